-- How many bids a user makes in each ten seconds: of event time, where the published query has the clock's, whose answer nothing could check.
CREATE MATERIALIZED VIEW q12 AS
SELECT bidder, count(*) AS bids, window_start, window_end
FROM TUMBLE(bid, date_time, INTERVAL '10 seconds')
GROUP BY bidder, window_start, window_end;
