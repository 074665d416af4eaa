CREATE MATERIALIZED VIEW q12 AS
SELECT bidder, count(*) AS bids, w AS window_start, w + interval '10 seconds' AS window_end
FROM (SELECT bidder, date_bin('10 seconds', date_time, '2000-01-01') AS w FROM bid) b GROUP BY bidder, w;
