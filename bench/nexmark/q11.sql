-- How many bids a user makes in each session.
CREATE MATERIALIZED VIEW q11 AS
SELECT bidder, count(*) AS bids, session_window.start AS begins, session_window.end AS ends
FROM bid GROUP BY bidder, session_window(date_time, '10 seconds');
