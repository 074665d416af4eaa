SELECT * FROM t
SELECT t.* FROM t, u
SELECT * FROM t JOIN u ON t.id = u.tid
SELECT * FROM t JOIN u USING (id)
SELECT * FROM t NATURAL JOIN u
SELECT id FROM t JOIN u USING (id)
SELECT * FROM t FULL JOIN u USING (id)
SELECT * FROM t RIGHT JOIN u USING (id, ts)
SELECT t.id, u.id FROM t JOIN u USING (id)
SELECT id FROM t, u
SELECT nope FROM t
SELECT t.nope FROM t
SELECT x.id FROM t
SELECT nam FROM t
SELECT pricee FROM t
SELECT t.id FROM t AS z
SELECT * FROM nope
SELECT * FROM public.t
SELECT public.t.id FROM public.t
SELECT * FROM nosuch.t
SELECT * FROM t, t
SELECT * FROM t a, t a
SELECT a.id, b.id FROM t a, t b
SELECT * FROM t AS x(a, b)
SELECT * FROM u AS x(a, b, c, d, e)
SELECT 1
SELECT 1 AS "One", 'x', NULL
SELECT
SELECT *
SELECT id, count(*) FROM t
SELECT count(*) FROM t WHERE count(*) > 1
SELECT sum(sum(qty)) FROM t
SELECT name, sum(qty) FROM t GROUP BY id
SELECT name, price + 1, sum(qty) FROM t GROUP BY id
SELECT name, sum(qty) FROM t GROUP BY qty
SELECT c FROM k2 GROUP BY a
SELECT c FROM k2 GROUP BY a, b
SELECT t.name, u.note FROM t JOIN u ON t.id = u.tid GROUP BY t.id
SELECT qty + 1 FROM t GROUP BY qty + 1
SELECT qty FROM t GROUP BY qty + 1
SELECT qty * 2 AS q FROM t GROUP BY q
SELECT qty * 2 AS name FROM t GROUP BY name
SELECT qty, count(*) FROM t GROUP BY 1
SELECT qty, count(*) FROM t GROUP BY 3
SELECT qty, count(*) FROM t GROUP BY 2
SELECT qty FROM t GROUP BY 'x'
SELECT qty FROM t HAVING qty > 1
SELECT 1 FROM t HAVING true
SELECT max(qty) FROM t HAVING min(qty) > 1
SELECT qty FROM t ORDER BY nope
SELECT qty FROM t ORDER BY 2
SELECT qty FROM t ORDER BY 0
SELECT qty AS a, id AS a FROM t ORDER BY a
SELECT qty AS a, qty AS a FROM t ORDER BY a
SELECT DISTINCT qty FROM t ORDER BY id
SELECT DISTINCT qty FROM t ORDER BY qty + 1
SELECT DISTINCT ON (qty) id FROM t ORDER BY id
SELECT DISTINCT ON (qty) id, name FROM t ORDER BY qty, id
SELECT DISTINCT ON (qty, id) id FROM t ORDER BY qty
SELECT qty FROM t UNION SELECT id FROM t ORDER BY qty + 1
SELECT qty FROM t UNION SELECT id FROM t ORDER BY nope
SELECT qty FROM t UNION SELECT id FROM t ORDER BY qty
SELECT qty, id FROM t UNION SELECT id FROM t
SELECT qty FROM t UNION SELECT name FROM t
SELECT 1 UNION SELECT 2.5
SELECT 1 UNION SELECT 'a'
SELECT 'a' UNION SELECT NULL
SELECT NULL UNION SELECT NULL UNION SELECT 1
SELECT 1 AS x UNION ALL SELECT 2 AS y
SELECT id FROM t INTERSECT SELECT id FROM u
SELECT id FROM t EXCEPT ALL SELECT id FROM u
VALUES (1, 'a'), (2, NULL)
VALUES (1), (2.5)
VALUES (1), ('x')
VALUES (1, 2), (3)
SELECT * FROM (VALUES (1, 'a')) AS v(x, y)
SELECT x.* FROM (SELECT 1 AS a, 'b' AS b) x
SELECT (SELECT 1, 2)
SELECT (SELECT id FROM u LIMIT 1) AS one
SELECT (SELECT note FROM u WHERE u.tid = t.id) FROM t
SELECT id FROM t WHERE id IN (SELECT id, tid FROM u)
SELECT id FROM t WHERE (id, qty) IN (SELECT tid, id FROM u)
SELECT id FROM t WHERE (id, qty) IN (SELECT tid FROM u)
SELECT id IN (SELECT tid FROM u) FROM t
SELECT EXISTS (SELECT 1 FROM u) FROM t
SELECT id FROM t WHERE name IN (SELECT tid FROM u)
SELECT id FROM t WHERE qty > ALL (SELECT tid FROM u)
SELECT id FROM t WHERE id = ANY (ARRAY[1,2])
SELECT id FROM t WHERE id = ANY ('{1,2}')
SELECT id FROM t WHERE id = ANY (5)
WITH a AS (SELECT 1 AS x) SELECT * FROM a
WITH a(y) AS (SELECT 1 AS x) SELECT y FROM a
WITH a(y, z) AS (SELECT 1 AS x) SELECT y FROM a
WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a
WITH a AS (SELECT nope) SELECT 1
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT a.x, b.y FROM a, b
SELECT * FROM t WHERE name
SELECT * FROM t WHERE id
SELECT * FROM t WHERE 'true'
SELECT * FROM t WHERE NOT id
SELECT * FROM t WHERE id AND ok
SELECT * FROM t JOIN u ON t.id
SELECT * FROM t JOIN u USING (nope)
SELECT * FROM t JOIN u USING (name)
SELECT * FROM t LIMIT 'x'
SELECT id FROM t LIMIT $1 OFFSET $2
SELECT row_number() OVER () FROM t
SELECT row_number() FROM t
SELECT lower(name) OVER () FROM t
SELECT id FROM t WHERE row_number() OVER () = 1
SELECT rank() OVER w, sum(qty) OVER w FROM t WINDOW w AS (PARTITION BY name ORDER BY price)
~SELECT rank() OVER nope FROM t
SELECT sum(qty) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
SELECT sum(qty) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) FROM t
SELECT sum(qty) OVER (ORDER BY name RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
~SELECT sum(qty) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
SELECT sum(sum(qty)) OVER (ORDER BY name) FROM t GROUP BY name
SELECT sum(row_number() OVER ()) FROM t
SELECT sum(row_number() OVER ()) OVER () FROM t
SELECT lag(price, 2, 0) OVER (ORDER BY id), ntile(4) OVER (ORDER BY id), first_value(name) OVER (ORDER BY id) FROM t
SELECT generate_series(1, 3)
SELECT * FROM generate_series(1, 3)
SELECT g FROM generate_series(1, 3) AS g
SELECT g.n FROM generate_series(1, 3) AS g(n)
SELECT * FROM generate_series(1, 3) WITH ORDINALITY
SELECT * FROM unnest(ARRAY[1,2]) AS x
SELECT * FROM t, unnest(tags) AS tag
SELECT * FROM t, LATERAL (SELECT note FROM u WHERE u.tid = t.id) x
SELECT * FROM t, (SELECT note FROM u WHERE u.tid = t.id) x
SELECT * FROM t LEFT JOIN LATERAL (SELECT note FROM u WHERE u.tid = t.id LIMIT 1) x ON true
SELECT unnest(tags) FROM t
SELECT id FROM t WHERE generate_series(1, 2) = 1
SELECT count(*) FILTER (WHERE qty > 1) FROM t
SELECT count(DISTINCT qty), sum(DISTINCT price) FROM t
SELECT lower(DISTINCT name) FROM t
SELECT lower(name) FILTER (WHERE true) FROM t
SELECT count() FROM t
SELECT lower(*) FROM t
SELECT nope(1)
SELECT lower(1, 2)
SELECT string_agg(name, ',' ORDER BY id) FROM t
SELECT string_agg(DISTINCT name, ',' ORDER BY id) FROM t
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM t
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY name) FROM t
SELECT percentile_cont(0.5) FROM t
SELECT qty, name, count(*) FROM t GROUP BY ROLLUP (qty, name)
SELECT qty, grouping(qty), count(*) FROM t GROUP BY CUBE (qty)
SELECT qty, grouping(name) FROM t GROUP BY qty
SELECT qty, count(*) FROM t GROUP BY GROUPING SETS ((qty), ())
SELECT count(t) FROM t
SELECT (SELECT max(u.id) FROM u WHERE u.tid = t.qty) FROM t GROUP BY t.name
SELECT id AS x FROM t WHERE x = 1
SELECT id AS x FROM t HAVING x = 1
