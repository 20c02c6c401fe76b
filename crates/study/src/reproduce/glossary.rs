//! The glossary of a report, for readers who know the papers but not the program.

/// Words and their meanings, in the order in which the glossary shows them.
pub(super) const GLOSSARY: [(&str, &str); 36] = [
    (
        "claim",
        "One thing that a paper says, or one statement of the project (R, T). Its name is the letter of its paper and a number, with the trace, size or setting behind a point: P12.cello-d8-best.",
    ),
    (
        "published, measured",
        "What the paper prints, and what the runs gave, in the same quantity and unit. Measured is what the base run gave.",
    ),
    (
        "measured over published",
        "How many times what was published is measured; below 0 where the signs differ.",
    ),
    (
        "reduced scale",
        "Of a long input only the first requests are run, the number of which the experiment declares, so that all papers take minutes; settings, sizes of buffers and checks are those of the full scale. An input without such a number is run whole.",
    ),
    (
        "full scale",
        "Every input is run as far as the paper used it.",
    ),
    (
        "base run",
        "The paper's own settings as far as it prints them, with the default of every open rule and the first seed.",
    ),
    (
        "3/4 behind a verdict",
        "Of the base run, other seeds and unpublished settings, four in all, the claim holds with three.",
    ),
    (
        "seed",
        "The number from which the random choices of a made-up stream follow. A claim is tried with several.",
    ),
    (
        "unpublished setting",
        "Something that decides and that the paper does not print, such as how many requests are outstanding. Each is varied alone, beside the base run; an experiment lists those that are tried.",
    ),
    (
        "rule left open, reading",
        "A rule of a scheme that the paper's text allows to be read in several ways. Each way is a reading; every combination of readings is tried on every claim of the paper.",
    ),
    (
        "judged values",
        "What the check of a claim is asked of. A table of each claim has those of the base run, of each other seed and of each unpublished setting, and whether the claim holds with these. A figure of the paper shows means over seeds, and often other quantities of the same runs.",
    ),
    (
        "turned by",
        "What makes a claim come out otherwise than in the base run: fail if it holds there, or hold if it fails. Every seed, every unpublished setting and every combination of open rules that was tried is counted, and those that turn it are named. A rule turns it alone with every other rule at its default; together if it takes several.",
    ),
    (
        "original",
        "The trace that the paper used, or a worked example that it prints.",
    ),
    (
        "relative",
        "A real recording of the same system that is not the paper's trace, such as one unit of Financial1 (ASU 9) or its first 10000 requests. Its row says how it differs.",
    ),
    (
        "stand-in",
        "A made-up stream with the statistics that the paper prints of a trace that may not be passed on. It can confirm a direction; it contradicts nothing.",
    ),
    (
        "unrelated recording",
        "A real recording of something else than the paper's trace, such as pc-mayun, a desktop PC recorded by DiskMon. It is judged as a stand-in is.",
    ),
    (
        "made up",
        "A stream that stands for no trace, such as uniform writes.",
    ),
    (
        "financial1, financial2, cello-d3, cello-d8, tpcc",
        "Names of inputs, after the trace of the paper that they are or stand for: two SPC traces of transaction processing, two disks of HP's Cello99, and TPC-C. financial1-asu9 and financial1-head are relatives: one unit of Financial1, and its first 10000 requests.",
    ),
    (
        "W1 to W9",
        "The workloads of the BPLRU paper, of its figures 7 to 15: W1 installs an office package, W2 is a browser's cache and W3 PCMark05, all on NTFS; W4 writes at random; W5 copies 90 MP3 files and W6 is a peer-to-peer download, both on FAT16; W7 unpacks and W8 compiles Linux on ext3; W9 is PostMark on three file systems.",
    ),
    (
        "standin-, dense-, near-, runs-, scattered-",
        "Stand-ins of the trace that is named behind, each with the counts that the paper prints: the default one, and those with other distances between rewrites and other neighbourhoods.",
    ),
    (
        "fitted",
        "A parameter of a stand-in that was chosen so that a claim comes out. Such a claim is no evidence, and is under-determined.",
    ),
    (
        "sign, sign only",
        "A claim of more or less is held to its direction first, and then to its size: where the measured size is less than the declared share of the published one, the verdict says that only the sign was seen.",
    ),
    (
        "under-determined",
        "What the paper does not say decides: a seed, an unpublished setting, a reading of its rules, an assumption, or a fitted parameter. The reason names which.",
    ),
    (
        "asked",
        "What the check demands of the measured values. Its limits were declared for all papers before the runs (What counts as what).",
    ),
    (
        "in proportion",
        "The buffer is to the footprint of the stream as the paper's buffer is to the footprint of its trace, since a relative is smaller.",
    ),
    (
        "response of destaged requests",
        "What the EPO paper calls response: from the time at which a buffer hands pages on to the end of their last program. Requests that hit in the buffer are not among these; without a buffer every request is. In a closed loop, which some settings are, it is that of all requests.",
    ),
    (
        "MB, MiB",
        "1 MiB is 1 048 576 bytes, and so is the MB, and 1024 bytes the KB, of a buffer, a cache or a page in a paper: a buffer of 8 MB there is one of 8 MiB here. The MB of MB/s is 1 000 000 bytes.",
    ),
    (
        "points",
        "Differences between percentages: from 10 % to 12 % is 2 points.",
    ),
    (
        "digest",
        "The SHA-256 of what a trace holds, by which a reader can tell whether another file is the same.",
    ),
    (
        "evict, destage, drain",
        "A page is evicted to make room; it is destaged when it is written to flash; a drain writes what is left at the end.",
    ),
    (
        "merge",
        "What a layer with log blocks does to make a block whole: a switch merge renames a log block and copies nothing, a full merge copies every page.",
    ),
    (
        "nocache, lru, block-lru",
        "No buffer; pages in the order of their last use; whole blocks in that order (which the BPAC paper calls BPLRU).",
    ),
    (
        "fab, bplru, clc, bpac, epo",
        "FAB evicts the block with most pages; BPLRU is block-lru with padding and compensation; CLC divides blocks by size with the share alpha; BPAC learns thresholds of distances; EPO evicts a page for each element at a time.",
    ),
    (
        "wb, apu-lru, apu-lfu, apu-lru-d, apu-lfu-d",
        "APU's caches: without idle work; with idle work one line at a time, in the order of use or by frequency; with idle work on all packages at a time (-d).",
    ),
    (
        "ecr, femu, mqsim, nvmevirt, simplessd",
        "A scheme that looks at the queues of dies; and the buffers of four other simulators, as each has it.",
    ),
    (
        "page, block, hybrid, bast, fast, last, sast, superblock, dftl, hat",
        "Translation layers: of pages, of whole blocks, and those between, with log blocks of each block (bast), shared by all (fast, last) or by groups; dftl and hat are of pages with the map in flash or in a memory of its own.",
    ),
];
