"""Settings that leave the planner a single kind of scan: a sequential scan, or one kind of scan of the index."""
# It groups by hashing: what PostgreSQL sorts it does not sort by a column that equals a constant, although a timestamp column can have
# two values that equal a timestamptz where a zone's clock skips (findings/equal_to_a_constant_is_not_one_value.sh).
SEQUENTIAL = ("SET enable_seqscan = on; SET enable_bitmapscan = off; SET plan_cache_mode = auto; SET work_mem = '16MB'; SET enable_sort = off; SET enable_hashagg = on; "
              "SET enable_hashjoin = on; SET enable_mergejoin = on; SET enable_nestloop = on; "
              "SET rtscan.enable_scan = off; SET rtscan.enable_aggregate = off")
# The same for joins. If tables have grown since they were analyzed, nested loops would take too long.
SEQUENTIAL_JOINS = f"{SEQUENTIAL}; SET enable_nestloop = off"
BITMAP = ("SET enable_sort = on; SET enable_seqscan = off; SET enable_bitmapscan = on; SET rtscan.enable_scan = off; "
          "SET rtscan.enable_aggregate = on")
SCAN = "SET enable_sort = on; SET enable_seqscan = off; SET enable_bitmapscan = off; SET rtscan.enable_scan = on; SET rtscan.enable_aggregate = off"
HEAP_ROWS = f"{SCAN} /* rows of the heap */"
INDEX_ROWS = f"{SCAN} /* columns of the index */"
AGGREGATE = "SET enable_sort = on; SET enable_seqscan = off; SET enable_bitmapscan = off; SET rtscan.enable_scan = off; SET rtscan.enable_aggregate = on"
LOOPS_ONLY = "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off"
JOINS_OFF = "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off"
