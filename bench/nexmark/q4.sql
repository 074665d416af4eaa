-- The average price at which the auctions of a category close.
CREATE MATERIALIZED VIEW q4 AS
SELECT category, avg(final) AS average
FROM (
    SELECT max(b.price) AS final, a.category
    FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
    GROUP BY a.id, a.category
) q
GROUP BY category;
