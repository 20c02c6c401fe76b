//! The glossary of a report, for readers who know the papers but not the program.

/// Words and their meanings, in the order in which the glossary shows them.
pub(super) const GLOSSARY: [(&str, &str); 40] = [
    (
        "claim",
        "A statement of a paper, or a statement of this project (R, T). Its name is the letter of its paper and a number; the trace, size or setting follows after a point, as in P12.cello-d8-best.",
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
        "Only the first requests of a long input are run, so that all papers take minutes; the experiment declares how many. Settings, buffer sizes and checks are those of the full scale. An input without such a number is run completely.",
    ),
    (
        "full scale",
        "Every input is run to the length that the paper used.",
    ),
    (
        "base run",
        "The paper's own settings as far as it prints them, with the default of every open rule and the first seed.",
    ),
    (
        "3/4 behind a verdict",
        "The claim was judged in four cases (the base run, other seeds, unpublished settings) and holds in three of them. A case in which every judged value is that of the base run, to the last digit, tests nothing: it is named, and is not counted.",
    ),
    (
        "seed",
        "The number that determines the random choices of a generated stream. Most claims on generated streams are judged with three seeds; a claim that is judged with one seed says so.",
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
        "A rule of a scheme that the paper's text allows to be interpreted in several ways. Each interpretation is a reading; every combination of readings is tried on every claim of the paper.",
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
        "A real recording of the same system that is not the paper's trace, such as one unit of Financial1 (ASU 9) or the first 10000 requests of Financial1. The row of the input says how the recording differs from the trace.",
    ),
    (
        "stand-in",
        "A generated stream with the statistics that the paper prints of its trace, for a trace that may not be passed on. A stand-in can confirm a direction; it contradicts nothing.",
    ),
    (
        "unrelated recording",
        "A real recording of another system than that of the paper's trace, such as pc-mayun, a desktop PC recorded by DiskMon. The rules of stand-ins apply to it.",
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
        "Stand-ins of the trace whose name follows. All have the counts that the paper prints: standin- is the default, the others have other distances between rewrites and other neighbours of a page.",
    ),
    (
        "fitted",
        "A parameter of a stand-in's base run that was chosen so that a claim comes out. Such a claim is no evidence, and is under-determined. A condition that was searched for is a case beside the base run, and counts.",
    ),
    (
        "sign, sign only",
        "The check of a claim that something is more or less compares the direction first and then the size. If the measured size is less than the declared share of the published one in all cases that were tried, the verdict says that only the sign was seen.",
    ),
    (
        "under-determined",
        "The result depends on something that the paper does not state: a seed, an unpublished setting, a reading of its rules, an assumption, or a fitted parameter. The reason of the verdict names it.",
    ),
    (
        "asked",
        "The condition that the check demands of the measured values. Its limits were declared for all papers (see What counts as what).",
    ),
    (
        "in proportion",
        "The buffer has the same ratio to the footprint of the stream as the paper's buffer has to the footprint of its trace, because a relative is smaller than the paper's trace.",
    ),
    (
        "at most 20 in the device",
        "How many requests the device works on at a time. No paper prints it; 20 is the default of this simulator, taken from the SSD extension of DiskSim.",
    ),
    (
        "open loop, closed loop",
        "In an open loop, requests come at the times of the stream, whatever the device does. In a closed loop, a fixed number of requests is always under way, and the next comes when one of them has ended.",
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
        "Differences between percentages: from 10 % to 12 % is 2 points.",
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
        "nocache, lru, block-lru",
        "No buffer; a buffer that evicts the least recently used page; and one that evicts the least recently used block (the BPAC paper calls it BPLRU).",
    ),
    (
        "fab, bplru, clc, bpac, epo",
        "FAB evicts the block with the most pages; BPLRU is block-lru with padding and compensation; CLC keeps the most recently written blocks, a share alpha of all, and evicts the largest of the others; BPAC learns thresholds of rewrite distances; EPO evicts pages in batches, one page for each die.",
    ),
    (
        "wb, apu-lru, apu-lfu, apu-lru-d, apu-lfu-d",
        "APU's caches: wb writes nothing back in idle time; apu-lru and apu-lfu write back one line at a time, by recency or by frequency of use; the variants with -d write back on all packages at once.",
    ),
    (
        "ecr, femu, mqsim, nvmevirt, simplessd",
        "ecr is a scheme that considers the queues of the dies; the others are the buffers of four other simulators.",
    ),
    (
        "page, block, hybrid, bast, fast, last, sast, superblock, dftl, hat",
        "Translation layers. page maps pages and block maps whole blocks. hybrid maps blocks, and the pages of a block may be in any order. bast, fast, last and sast map blocks and have log blocks: each log block belongs to one block (bast), to a group of blocks (sast), or to all blocks (fast, last; these two also have log blocks of a single block, for sequential or long writes). superblock maps the pages within a group of blocks. dftl and hat map pages and keep the map in flash or in a separate memory.",
    ),
];
