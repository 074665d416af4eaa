CREATE MATERIALIZED VIEW q11 AS
SELECT bidder, count(*) AS bids, min(date_time) AS begins, max(date_time) + interval '10 seconds' AS ends
FROM (
    SELECT bidder, date_time, count(*) FILTER (WHERE new) OVER (PARTITION BY bidder ORDER BY date_time) AS session
    FROM (SELECT bidder, date_time, date_time >= lag(date_time) OVER (PARTITION BY bidder ORDER BY date_time) + interval '10 seconds' AS new FROM bid) a
) b
GROUP BY bidder, session;
