//! The glossary of a report, for readers who know the papers but not the program.

/// Words and their meanings, in the order in which the glossary shows them.
pub(super) const GLOSSARY: [(&str, &str); 49] = [
    (
        "claim",
        "A statement of a paper, or a statement of this project (R, T). Its name is the letter of its paper and a number; the trace, size or setting follows after a point, as in P12.cello-d8-best. The words are this project's: a claim says what the paper says, and gives the place where it says so. Words of the paper itself stand in quotation marks. A claim that only follows from what a paper says has the word inferred in its statement and beside its place.",
    ),
    (
        "published, measured",
        "The value that the paper prints, and the value that the base run gave, in the same quantity and unit.",
    ),
    (
        "measured over published",
        "The measured value divided by the published one; it is negative if their signs differ.",
    ),
    (
        "reduced scale",
        "Only the first requests of a long input are run, so that all papers take minutes and not hours if nothing is stored yet; results that are stored are used again. The experiment declares how many requests. Settings, buffer sizes and checks are those of the full scale. An input without such a number is run completely.",
    ),
    (
        "full scale",
        "Every input is run to its end, or to the number of requests or writes that the paper used if the paper prints it. A stand-in can be shorter than the trace that it stands for: Source Control's has 100 000 requests, where the paper's trace has more than a million. The row of the run says how many.",
    ),
    (
        "base run",
        "The paper's own settings as far as it prints them, with the default of every open rule and the first seed.",
    ),
    (
        "3/4 behind a verdict",
        "The claim was judged in four cases and holds in three of them. The cases are the base run, each other seed, and each unpublished setting, with each seed with which the setting was run. If a setting was run with only some of the sizes or inputs of a claim, it is judged with these. A case in which every judged value is that of the base run, to the last digit, tests nothing: it is named, and is not counted. Combinations of readings are not among the cases; their number stands beside, as in 2 of 4 readings, or in the text. Some under-determined claims hold in all cases or in none, so that the count does not decide: an assumption, a reading, a fitted parameter or the size of the effect is the reason. Their rows show the result of the base run instead of a count.",
    ),
    (
        "seed",
        "The number that determines the random choices of a generated stream. Most claims on generated streams are judged with three seeds; a claim that is judged with one seed says so. Unpublished settings are run with the first seed unless their name says otherwise, and readings always are.",
    ),
    (
        "unpublished setting",
        "A setting that can change the result and that the paper does not print, such as the number of outstanding requests. One setting at a time is changed from the base run; the experiment lists the values that are tried.",
    ),
    (
        "searched for",
        "Said of a condition that was sought after the result was known. If the paper leaves the condition open, such as the load, the start state or the size of a request, it counts for every verdict, and the claim says that it was searched for. A condition that contradicts what the paper states is tried only to find a cause, and never counts.",
    ),
    (
        "rule left open, reading",
        "A rule of a scheme that the paper's text allows to be interpreted in several ways. Each interpretation is a reading; the default is the one that is nearest to the paper's wording, or this project's choice if the text says nothing, and none was chosen by results. Every combination of readings is tried on every claim of the paper whose runs use one of these rules, with the first seed and the other settings of the base run; the row of another claim says why its runs are not repeated. A claim whose formula fixes a reading says so, and is not judged under the others. If a combination gives the claim the runs or the judged values of another, it is no further test and is not counted.",
    ),
    (
        "judged values",
        "The values that the check of a claim compares. Each claim has a table with the values of the base run, of each other seed and of each unpublished setting, and of the smallest choices of readings that change the outcome. The table says whether the claim holds with them and, if the verdict tests the size of an effect, whether the size is seen. A figure of the paper shows means over seeds, and often other quantities of the same runs.",
    ),
    (
        "turned by",
        "The seeds, unpublished settings and open rules with which a claim that holds in the base run fails, or a claim that fails in the base run holds. All that were tried are counted, and those that turn the claim are named. A rule turns the claim alone if every other rule has its default, and together with others if several have to change.",
    ),
    (
        "original",
        "The trace that the paper used, or a worked example that it prints.",
    ),
    (
        "relative",
        "A real recording of a part of the paper's trace: one unit of Financial1 (ASU 9), or the first 10000 requests of Financial1. The row of the input says how it differs from the whole. A claim can hold on a relative, which is then named; a failure on it contradicts nothing, because the whole trace need not behave like the part. A claim about the trace itself, such as how its writes are spread, needs the assumption that the whole is like the part, which its row names; a claim about schemes needs none to hold on a part of the trace.",
    ),
    (
        "stand-in",
        "A generated stream with the statistics that the paper prints of its trace, for a trace that may not be passed on or was not found. A stand-in can confirm a direction; it contradicts nothing.",
    ),
    (
        "other recording",
        "A real recording of a system other than that of the paper's trace. It can do the same kind of work, such as p2pdownload (another peer-to-peer download, on a desktop PC) and tpcc-small (another run of TPC-C, of 0.14 s), or other work, such as pc-mayun (a desktop PC). The rules of stand-ins apply to it.",
    ),
    (
        "made up",
        "A generated stream that represents no trace, such as uniform writes.",
    ),
    (
        "financial1, financial2, cello-d3, cello-d8, tpcc",
        "Names of inputs, each after the paper's trace that it is or represents: two SPC traces of transaction processing, two disks of HP's Cello99, and TPC-C. financial1-asu9 and financial1-head are relatives: one unit of Financial1, and the first 10000 requests of Financial1.",
    ),
    (
        "W1 to W9",
        "The workloads of the BPLRU paper, of its figures 7 to 15: W1 installs an office package, W2 is a browser's cache and W3 PCMark05, all on NTFS; W4 writes at random; W5 copies 90 MP3 files and W6 is a peer-to-peer download, both on FAT16; W7 unpacks and W8 compiles Linux on ext3; W9 is PostMark on three file systems.",
    ),
    (
        "standin-, dense-, near-, runs-, scattered-",
        "Stand-ins of the trace whose name follows. Their counts of requests and pages come near those that the paper prints; the table of these counts (bpac/workloads, Table II) has both, and the largest deviation is 9.8 %. standin- is the default, the others have other distances between rewrites and other neighbours of a page.",
    ),
    (
        "fitted",
        "A parameter of a stand-in's base run that was chosen so that a claim comes out. Such a claim is no evidence, and is under-determined. A condition that was searched for is a case beside the base run, and counts.",
    ),
    (
        "sign, sign only",
        "The check of a claim that something is more or less compares the direction first and then the size. If the measured size is less than the declared share of the published one, 1/3, in all cases that were tried, the verdict says that only the sign was seen. If the direction itself depends on what the paper does not state, the claim is under-determined, and its row says if the size is seen in none of the cases.",
    ),
    (
        "under-determined",
        "The result depends on something that the paper does not state: a seed, an unpublished setting, a reading of its rules, an assumption, or a fitted parameter. The reason of the verdict names it.",
    ),
    (
        "asked",
        "The condition that the check demands of the measured values. For claims of papers its limits were declared for all papers alike (see What counts as what). The limits of this project's own statements R and T were set after the runs, so that \"holds\" says that the statement describes these runs, and not that a prediction came true. The limits of D are goals that were set before.",
    ),
    (
        "in proportion",
        "The buffer has the same ratio to the number of different pages that the stream writes as the paper's buffer has to that of its trace, because a part of a trace writes fewer pages. Financial1's million writes touch 113 561 different pages (Table II of the BPAC paper), ASU 9 writes 83 832 (74 %: buffers are three quarters of the paper's) and the first 10000 requests 3734 (3.3 %: a thirty-second).",
    ),
    (
        "at most 20 in the device",
        "How many requests the device works on at a time. No paper prints it; 20 is the default of this simulator, taken from the SSD extension of DiskSim.",
    ),
    (
        "open loop, closed loop",
        "In an open loop, requests come at the times of the stream, whatever the device does; if a buffer of a run in an open loop has no room, the request waits in the device. In a closed loop, a fixed number of requests is always under way, and the next comes when one of them has ended. The settings closed (20 requests), closed-8, closed-32 and closed-64 are closed loops. Not every input is run in all four: the experiment lists those in which it is. The settings busy, crowded, denser, packed-320 and packed-360 are open loops in which requests come more often; each experiment says how much.",
    ),
    (
        "costs from counts of operations",
        "The BPLRU and the BPAC paper count reads, programs and erases, and add up their times. Throughput is then the bytes that the host writes, divided by that sum; when requests arrive plays no part, so no rate of arrivals limits it.",
    ),
    (
        "response of destaged requests",
        "What the EPO paper calls response, as this project reads it: the time from the moment at which the buffer destages pages to the end of their last program. The paper does not say whether requests that hit in the buffer are averaged; here they are left out. Without a buffer every request counts.",
    ),
    (
        "MB, MiB",
        "1 MiB is 1 048 576 bytes. For buffers, caches and pages a paper's MB means 1 MiB and its KB means 1024 bytes: a buffer of 8 MB in a paper is a buffer of 8 MiB here. In MB/s, a MB is 1 000 000 bytes.",
    ),
    (
        "points",
        "Differences between percentages: from 10 % to 12 % is 2 points. A gain that is compared in points is one in per cent of the same base.",
    ),
    (
        "lines",
        "The pages of APU's cache, 4 KB each. A line is dirty from the write that changes it until it is programmed.",
    ),
    (
        "dirty at the end",
        "Pages that were written and are still in the buffer when a run ends. APU's paper counts them as saved: its printed rates come out so (A8, A9). This way to count is taken from the printed values; no other runs belong to it, and the rows give the other count. Where a claim counts programs or saved writes, its row says how many such pages there are, or counts them as programmed.",
    ),
    (
        "floor",
        "The time to transfer and program one page. No response of a destaged page can be shorter: 0.3024 ms for 4 KB and 0.2256 ms for 1 KB in the EPO paper's device.",
    ),
    (
        "digest",
        "The SHA-256 of the content of a trace. It shows whether another file has the same content.",
    ),
    (
        "evict, destage, drain",
        "A buffer evicts a page to make room, and destages a page by writing it to flash; a drain destages all pages that remain at the end of a run.",
    ),
    (
        "merge",
        "The operation by which a layer with log blocks collects all pages of a block in one place: a switch merge turns a log block into the data block and copies nothing, a full merge copies every page.",
    ),
    (
        "element",
        "The EPO paper's word for a part of the flash that works on its own; a die in the runs.",
    ),
    (
        "saturated rate",
        "The requests a second that a drive serves if more are offered than it can serve.",
    ),
    (
        "nocache, lru, block-lru",
        "No buffer; a buffer that evicts the least recently used page; and one that evicts the least recently used block (the BPAC paper calls it BPLRU).",
    ),
    (
        "fab, bplru, clc, bpac, epo",
        "FAB evicts the block with the most pages; BPLRU is block-lru with padding and compensation; CLC keeps the most recently written blocks, a share alpha of all, and evicts the largest of the others; BPAC learns thresholds of rewrite distances; EPO evicts pages in batches, one page for each die.",
    ),
    (
        "PIRD, BIRD, threshold",
        "BPAC's distances. PIRD is the number of page writes between two writes of a page, BIRD that between two uses of a block. BPAC samples both and learns a threshold for each, the distance that covers a share of the samples (bpac_cover). A page whose distance is below the threshold is hot; a cluster whose last use is farther back than the threshold for blocks is old.",
    ),
    (
        "cluster, young cluster, alpha",
        "A cluster is the pages of one block that are in the buffer. CLC keeps a share alpha of its clusters, the most recently written ones, and evicts the largest of the others. BPAC's own alpha is the share of its clusters that are young: those not yet older than the threshold for blocks, which are not evicted for their size; it is the mean over the run.",
    ),
    (
        "wb, apu-lru, apu-lfu, apu-lru-d, apu-lfu-d",
        "APU's caches: wb writes nothing back in idle time; apu-lru and apu-lfu write back one line at a time, by recency or by frequency of use; the variants with -d write back on all packages at once.",
    ),
    (
        "belady, infinite",
        "Bounds, and not schemes for a drive: belady evicts the page whose next write is farthest in the future, and infinite evicts nothing.",
    ),
    (
        "lirs-wsr, req-block, co-active, and other names of schemes",
        "Published write buffers beside those of the papers that are judged here. The documentation of destage has a page for each, with its source and its rules.",
    ),
    (
        "ecr, femu, mqsim, nvmevirt, simplessd",
        "ecr evicts to dies whose queues are short, and takes the die of a page from the number of the page; the others are the buffers of four other simulators.",
    ),
    (
        "page, block, hybrid, bast, fast, last, sast, superblock, striped, dftl, hat",
        "Translation layers. page maps pages and block maps whole blocks. hybrid maps blocks, and the pages of a block may be in any order. bast, fast, last and sast map blocks and have log blocks: each log block belongs to one block (bast), to a group of blocks (sast), or to all blocks (fast, last; these two also have log blocks of a single block, for sequential or long writes). superblock maps the pages within a group of blocks. striped, in the models of drives of today, writes each page to the die with the fewest waiting operations, in superblocks over all dies. The blocks of these models are small, so that runs can be short, and erases are shorter in the same proportion. dftl and hat map pages and keep the map in flash or in a separate memory.",
    ),
];
