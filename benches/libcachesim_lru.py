"""Counts the hits of libCacheSim's LRU on a file of page writes, and measures the processor time of the LRU.

usage: libcachesim_lru.py FILE PAGES

FILE has libCacheSim's `oracleGeneral` format, with objects of size 1. PAGES is the size of the cache. Prints the number
of hits and then the median processor time of three passes, in seconds. The time includes reading the mapped file.
"""

import statistics
import sys
import time

import libcachesim


def main(path, pages):
    seconds = []
    for _ in range(3):
        reader = libcachesim.TraceReader(
            trace=path, trace_type=libcachesim.TraceType.ORACLE_GENERAL_TRACE
        )
        requests = reader.get_num_of_req()
        cache = libcachesim.LRU(cache_size=pages)
        start = time.thread_time()
        miss_ratio, _ = cache.process_trace(reader)
        seconds.append(time.thread_time() - start)
    print(requests - round(miss_ratio * requests), statistics.median(seconds))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
