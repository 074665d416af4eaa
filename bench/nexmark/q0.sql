-- Passed through: what it costs to read a bid and keep it.
CREATE MATERIALIZED VIEW q0 AS
SELECT auction, bidder, price, date_time, extra FROM bid;
