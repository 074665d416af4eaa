-- What the state of views costs: the table in docs/bounded-state.md. On an empty database: psql -qAt -f bench/state_cost.sql
-- Six hours of events, 2,000 a minute in order, of 1,000 keys, with ids that never come twice; each fourth minute brings 250 rows to the second stream.
-- It prints each view's rows and megabytes of state after two, four and six hours.
CREATE STREAM e (id bigint, k int, ts timestamp, v int, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
CREATE STREAM e60 (id bigint, k int, ts timestamp, v int, WATERMARK FOR ts AS ts - INTERVAL '60 minutes');
CREATE STREAM c (id bigint, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
SET spark.sql.streaming.stateStore.partitions = 1;
CREATE MATERIALIZED VIEW "tumbling 10 minutes" AS SELECT window.start AS w, k, count(*) AS n, sum(v) AS s FROM e GROUP BY window(ts, '10 minutes'), k;
CREATE MATERIALIZED VIEW "the same, delay 60 minutes" AS SELECT window.start AS w, k, count(*) AS n, sum(v) AS s FROM e60 GROUP BY window(ts, '10 minutes'), k;
CREATE MATERIALIZED VIEW "sliding 10 minutes by 1" AS SELECT window.start AS w, k, count(*) AS n, sum(v) AS s FROM e GROUP BY window(ts, '10 minutes', '1 minute'), k;
CREATE MATERIALIZED VIEW "sessions, gap 5 minutes" AS SELECT session_window.start AS w, k, count(*) AS n, sum(v) AS s FROM e GROUP BY session_window(ts, '5 minutes'), k;
CREATE MATERIALIZED VIEW "GROUP BY key, no window" AS SELECT k, count(*) AS n, sum(v) AS s FROM e GROUP BY k;
CREATE MATERIALIZED VIEW "DISTINCT ON (id, ts)" AS SELECT DISTINCT ON (id, ts) id, ts FROM e;
CREATE MATERIALIZED VIEW "DISTINCT ON (id) WITHIN WATERMARK" AS SELECT DISTINCT ON (id) WITHIN WATERMARK id, ts FROM e;
CREATE MATERIALIZED VIEW "DISTINCT ON (id), no bound" AS SELECT DISTINCT ON (id) id, ts FROM e;
CREATE MATERIALIZED VIEW "join, range 5 minutes" AS SELECT e.id, e.ts, c.ts AS cts FROM e JOIN c ON c.id = e.id AND c.ts BETWEEN e.ts AND e.ts + INTERVAL '5 minutes';
CREATE MATERIALIZED VIEW "join, range 60 minutes" AS SELECT e.id, e.ts, c.ts AS cts FROM e JOIN c ON c.id = e.id AND c.ts BETWEEN e.ts AND e.ts + INTERVAL '60 minutes';
CREATE MATERIALIZED VIEW "join without a range, no bound" AS SELECT e.id, e.ts, c.ts AS cts FROM e JOIN c ON c.id = e.id;
SELECT format(x, m) FROM generate_series(0, 359) m, LATERAL (VALUES
  ('INSERT INTO e SELECT %1$s * 2000 + i, i %% 1000, timestamp ''2024-03-01'' + %1$s * interval ''1 minute'' + i * interval ''30 milliseconds'', i FROM generate_series(0, 1999) i'),
  ('INSERT INTO e60 SELECT %1$s * 2000 + i, i %% 1000, timestamp ''2024-03-01'' + %1$s * interval ''1 minute'' + i * interval ''30 milliseconds'', i FROM generate_series(0, 1999) i'),
  (CASE WHEN m % 4 = 0 THEN 'INSERT INTO c SELECT %1$s * 2000 + i * 8, timestamp ''2024-03-01'' + %1$s * interval ''1 minute'' + i * interval ''240 milliseconds'' FROM generate_series(0, 249) i' END),
  (CASE WHEN m % 120 = 119 THEN 'SELECT view_name, sum(num_rows_total), round(sum(memory_used_bytes) / 1e6, 1) FROM tidemark.state_operators GROUP BY 1 ORDER BY 1' END)) AS y (x) WHERE x IS NOT NULL ORDER BY m
\gexec
