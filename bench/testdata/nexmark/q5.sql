CREATE MATERIALIZED VIEW q5 AS
WITH c AS (
    SELECT auction, count(*) AS num, s AS window_start, s + interval '10 seconds' AS window_end
    FROM bid, generate_series(date_bin('2 seconds', date_time, '2000-01-01') - interval '8 seconds', date_bin('2 seconds', date_time, '2000-01-01'), interval '2 seconds') s
    GROUP BY auction, s
)
SELECT auction, num, window_start, window_end FROM (SELECT *, max(num) OVER (PARTITION BY window_start) AS most FROM c) q WHERE num = most;
