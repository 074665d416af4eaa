SELECT * FROM a
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.v)
SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.v)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v > a.v)
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM e)
SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM e)
SELECT id FROM a WHERE k IN (SELECT k FROM b)
SELECT id FROM a WHERE k NOT IN (SELECT k FROM b)
SELECT id FROM a WHERE k NOT IN (SELECT k FROM b WHERE k IS NOT NULL)
SELECT id FROM a WHERE k NOT IN (SELECT k FROM e)
SELECT id FROM a WHERE v IN (SELECT v FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE v NOT IN (SELECT v FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE v NOT IN (SELECT v FROM b WHERE b.k = a.k AND v IS NOT NULL)
SELECT id FROM a WHERE (k, v) IN (SELECT k, v FROM b)
SELECT id FROM a WHERE (k, v) NOT IN (SELECT k, v FROM b)
SELECT id, k IN (SELECT k FROM b) FROM a
SELECT id, k NOT IN (SELECT k FROM b WHERE k IS NOT NULL) FROM a
SELECT id, k IN (SELECT k FROM e) FROM a
SELECT id, v IN (SELECT v FROM b WHERE b.k = a.k) FROM a
SELECT id, (k, v) IN (SELECT k, v FROM b) FROM a
SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) FROM a
SELECT id, EXISTS (SELECT 1 FROM b WHERE b.v > a.v AND b.k = a.k) FROM a
SELECT id FROM a WHERE k = 1 OR EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.s = 'p')
SELECT id FROM a WHERE k = 1 OR v IN (SELECT v FROM b WHERE b.s = 'q')
SELECT id FROM a WHERE NOT (k = 1 OR v IN (SELECT v FROM b WHERE b.s = 'q'))
SELECT id FROM a WHERE v > ANY (SELECT v FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE v > ALL (SELECT v FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE NOT v > ALL (SELECT v FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE v < ALL (SELECT v FROM b WHERE v IS NOT NULL)
SELECT id, v > ANY (SELECT v FROM b WHERE b.k = a.k), v > ALL (SELECT v FROM b WHERE b.k = a.k), v <> ALL (SELECT v FROM b) FROM a
SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k) FROM a
SELECT id, (SELECT count(*) + 10 FROM b WHERE b.k = a.k AND b.s = 'p') FROM a
SELECT id, (SELECT sum(b.v) FROM b WHERE b.k = a.k) FROM a
SELECT id, (SELECT max(b.v) FROM b WHERE b.v < a.v) FROM a
SELECT id, (SELECT count(*) FROM b WHERE b.v < a.v) FROM a
SELECT id, (SELECT count(*) FROM b WHERE b.v < a.v AND b.k = a.k) FROM a
SELECT id, (SELECT a.v + sum(b.v) FROM b WHERE b.k = a.k) FROM a
SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) > 1) FROM a
SELECT id, (SELECT n FROM c WHERE c.k = a.k) FROM a
SELECT id, (SELECT n + a.id FROM c WHERE c.k = a.k) FROM a
SELECT id, (SELECT 5 FROM c WHERE c.k = a.k) FROM a
SELECT id, (SELECT v FROM b WHERE b.k = a.k ORDER BY v DESC NULLS LAST, s LIMIT 1) FROM a
SELECT id, (SELECT v FROM b WHERE b.k = a.k) FROM a
SELECT id FROM a WHERE v = (SELECT max(v) FROM a)
SELECT id FROM a WHERE v = (SELECT max(v) FROM a x WHERE x.k = a.k)
SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE (SELECT count(*) FROM b WHERE b.k = a.k) = 0
SELECT id FROM a WHERE (SELECT count(*) FROM b WHERE b.k = a.k AND b.v > a.v) >= 1
SELECT k, (SELECT count(*) FROM b WHERE b.k = a.k) FROM a GROUP BY k
SELECT k, sum(v), (SELECT max(n) FROM c WHERE c.k = a.k) FROM a GROUP BY k HAVING count(*) > (SELECT min(n) FROM c)
SELECT k FROM a GROUP BY k HAVING EXISTS (SELECT 1 FROM b WHERE b.k = a.k)
SELECT sum((SELECT count(*) FROM b WHERE b.k = a.k)) FROM a
SELECT id, x.v FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k) x
SELECT id, x.v FROM a LEFT JOIN LATERAL (SELECT v FROM b WHERE b.k = a.k) x ON true
SELECT id, x.v FROM a LEFT JOIN LATERAL (SELECT v + a.id AS v FROM b WHERE b.k = a.k) x ON x.v > 3
SELECT id, x.c FROM a LEFT JOIN LATERAL (SELECT count(*) AS c FROM b WHERE b.k = a.k) x ON true
SELECT id, x.c FROM a LEFT JOIN LATERAL (SELECT count(*) AS c FROM b WHERE b.k = a.k) x ON x.c > 1
SELECT id, x.c FROM a CROSS JOIN LATERAL (SELECT count(*) AS c FROM b WHERE b.k = a.k) x WHERE c = 0
SELECT id, x.v FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k ORDER BY v NULLS LAST, s LIMIT 2) x
SELECT id, x.v FROM a LEFT JOIN LATERAL (SELECT v FROM b WHERE b.v < a.v ORDER BY v DESC LIMIT 1) x ON true
SELECT id, x.s, x.c FROM a, LATERAL (SELECT s, count(*) AS c FROM b WHERE b.k = a.k GROUP BY s) x
SELECT id, x.s, x.c FROM a, LATERAL (SELECT s, count(*) AS c FROM b WHERE b.v > a.v GROUP BY s) x
SELECT id, x.v FROM a, LATERAL (SELECT DISTINCT v FROM b WHERE b.k = a.k) x
SELECT id, x.y FROM a, LATERAL (VALUES (a.k), (a.v::int)) x(y)
SELECT id, x.y FROM a, LATERAL (SELECT a.k AS y UNION ALL SELECT a.id) x
SELECT id, x.y FROM a, LATERAL (SELECT v AS y FROM b WHERE b.k = a.k UNION SELECT n FROM c WHERE c.k = a.k) x
SELECT id, x.y FROM a, LATERAL (SELECT v AS y FROM b WHERE b.k = a.k EXCEPT SELECT n FROM c WHERE c.k = a.k) x
SELECT id, x.r FROM a, LATERAL (SELECT row_number() OVER (ORDER BY v, s, k) AS r FROM b WHERE b.k = a.k) x
SELECT id, x.v FROM a, LATERAL (SELECT b.v FROM b JOIN c ON b.k = c.k WHERE c.n = a.k) x
SELECT id, x.v FROM a, LATERAL (SELECT b.v FROM b LEFT JOIN c ON b.k = c.k AND c.n > a.k WHERE b.k = a.k) x
SELECT id, x.v FROM a, LATERAL (SELECT b.v FROM b WHERE EXISTS (SELECT 1 FROM c WHERE c.k = b.k AND c.n = a.k)) x
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND EXISTS (SELECT 1 FROM c WHERE c.k = b.k AND c.n < a.v))
SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v IN (SELECT n FROM c WHERE c.k = a.k))
SELECT id, (SELECT (SELECT count(*) FROM c WHERE c.k = b.k AND c.n < a.v) FROM b WHERE b.k = a.k ORDER BY v, s LIMIT 1) IS NULL FROM a
SELECT id, (SELECT sum(x.c) FROM (SELECT s, count(*) AS c FROM b WHERE b.k = a.k GROUP BY s) x) FROM a
SELECT id, ARRAY(SELECT v FROM b WHERE b.k = a.k AND v IS NOT NULL ORDER BY v) IS NOT NULL FROM a
SELECT a.id, b.v FROM a JOIN b ON a.k = b.k AND b.v IN (SELECT n FROM c)
SELECT * FROM a JOIN b USING (k)
SELECT * FROM a LEFT JOIN b USING (k)
SELECT * FROM a RIGHT JOIN b USING (k)
SELECT * FROM a FULL JOIN b USING (k)
SELECT a.id, b.s FROM a LEFT JOIN b ON a.k = b.k AND b.s = 'p' WHERE b.s IS NULL
SELECT a.id, b.s FROM a LEFT JOIN b ON a.k = b.k WHERE b.v > 2
SELECT a.id, b.s, c.n FROM a, b, c WHERE a.k = b.k AND b.k = c.k AND c.n > 0
SELECT a.id, c.n FROM a LEFT JOIN c ON a.k = c.k AND a.v > 3
SELECT a.id, c.n FROM a FULL JOIN c ON a.k = c.k WHERE a.id IS NULL OR c.n IS NULL
SELECT a.id, b.v FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k
SELECT a.id, x.id FROM a JOIN a x ON a.k = x.k AND a.id < x.id
SELECT k, s, count(*), sum(v) FROM b GROUP BY ROLLUP (k, s)
SELECT k, s, grouping(k), grouping(k, s), count(*) FROM b GROUP BY CUBE (k, s)
SELECT k, count(*) FROM b GROUP BY GROUPING SETS ((k), ()) HAVING count(*) > 2
SELECT DISTINCT k FROM a ORDER BY 1
SELECT k, id FROM a ORDER BY 1, v DESC, id
SELECT id FROM a ORDER BY v NULLS FIRST, id LIMIT 5
SELECT DISTINCT ON (k) k, id FROM a ORDER BY k, id DESC
SELECT k, rank() OVER (PARTITION BY k ORDER BY v), sum(v) OVER (PARTITION BY k ORDER BY v, id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM a
SELECT k, sum(sum(v)) OVER (ORDER BY k) FROM a GROUP BY k
SELECT id, generate_series(1, k) FROM a
SELECT id, g FROM a, generate_series(1, a.k) g
SELECT id, g, o FROM a LEFT JOIN LATERAL generate_series(1, a.k) WITH ORDINALITY AS x(g, o) ON true
SELECT k FROM a INTERSECT SELECT k FROM b
SELECT k FROM a INTERSECT ALL SELECT k FROM b
SELECT k FROM a EXCEPT SELECT k FROM b
SELECT k FROM b EXCEPT ALL SELECT k FROM a
SELECT k FROM a UNION SELECT v FROM b ORDER BY 1
WITH x AS (SELECT k, count(*) AS c FROM b GROUP BY k) SELECT a.id, x.c, y.c FROM a JOIN x ON x.k = a.k LEFT JOIN x y ON y.c = x.c AND y.k > x.k
WITH x AS (SELECT k, count(*) AS c FROM b GROUP BY k), m AS (SELECT max(c) AS m FROM x) SELECT k FROM x, m WHERE c = m
SELECT id, CASE WHEN k > 2 THEN 'hi' WHEN k IS NULL THEN 'none' ELSE 'lo' END, COALESCE(v, -1), NULLIF(k, 2), GREATEST(k, v, 3) FROM a
SELECT count(*), count(k), count(DISTINCT k), sum(v) FILTER (WHERE k > 1), avg(v), min(v), max(v), bool_or(k > 3) FROM a
SELECT x.k, x.t FROM (SELECT k, sum(v) AS t FROM a GROUP BY k) x WHERE x.k > 1 AND x.t > 2
SELECT k, c FROM (SELECT k, count(*) AS c FROM b GROUP BY k) x WHERE k = 2
SELECT a.k, x.s FROM a JOIN (SELECT k, sum(v) AS s FROM b GROUP BY k) x ON x.k = a.k WHERE a.k = 2
SELECT id FROM a WHERE (k, v) > (2, 3)
SELECT id FROM a WHERE k = ANY (ARRAY[1, 2]) OR v = ALL ('{3}')
SELECT id FROM a WHERE k BETWEEN SYMMETRIC 3 AND 1
SELECT 1 WHERE EXISTS (SELECT 1 FROM a) AND NOT EXISTS (SELECT 1 FROM e)
SELECT (SELECT max(k) FROM a), (SELECT k FROM e), (SELECT count(*) FROM e)
SELECT (SELECT k FROM a)
SELECT 1 / (id - id) FROM a
SELECT max(id) FROM a HAVING count(*) > 100
SELECT string_agg(s, ',' ORDER BY s, v, k) FROM b
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_disc(0.25) WITHIN GROUP (ORDER BY v) FROM a
SELECT id FROM a ORDER BY (SELECT count(*) FROM b WHERE b.k = a.k), 1
SELECT b.s, (SELECT count(*) FROM a WHERE a.k = b.k) AS n FROM b ORDER BY n, s
SELECT id FROM a x WHERE NOT EXISTS (SELECT 1 FROM a y WHERE y.k = x.k AND y.id > x.id)
SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY v, id) AS r FROM a) x WHERE r = 1
SELECT a.id, b.s, c.n FROM a, c, b WHERE a.k = b.k AND b.v = c.k AND c.n >= 0
SELECT a.id, x.id, b.v, c.n FROM a, a x, b LEFT JOIN c ON b.k = c.k WHERE a.k = b.k AND b.v = x.v AND a.id + x.id > 3
SELECT a.id, b.s, c.n FROM a CROSS JOIN c, b WHERE a.id < 3
SELECT a.id FROM a, c, b WHERE a.k + c.k = b.k AND b.v = c.n
SELECT id FROM a WHERE (k, v) = (SELECT 1, 3)
SELECT id, (k, v) < (SELECT b.k, b.v FROM b WHERE b.k = a.k ORDER BY b.v, b.s LIMIT 1) FROM a
VALUES ((SELECT count(*) FROM a), 1), ((SELECT max(k) FROM b), (SELECT min(k) FROM b))
SELECT id, x.y FROM a, LATERAL (VALUES ((SELECT count(*) FROM b WHERE b.k = a.k)), (a.v)) x(y)
SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) < 2) FROM a
SELECT id FROM a WHERE EXISTS (SELECT count(*) FROM b WHERE b.k = a.k)
SELECT id FROM a WHERE NOT EXISTS (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) = 0)
SELECT id FROM a WHERE 0 IN (SELECT count(*) FROM b WHERE b.k = a.k)
SELECT id, x.c FROM a LEFT JOIN LATERAL (SELECT count(*) AS c FROM b WHERE b.k = a.k) x ON x.c < 1
SELECT id, (SELECT sum(y) FROM (SELECT count(*) AS y FROM b WHERE b.k = a.k UNION ALL SELECT 10) z) FROM a
SELECT id, (SELECT max(y) FROM (SELECT count(*) AS y FROM b WHERE b.k = a.k) z) FROM a
SELECT id, (SELECT count(*) FROM c, LATERAL (SELECT count(*) AS n FROM b WHERE b.k = c.k AND b.v > a.v) z WHERE z.n = 0) FROM a
SELECT id, (SELECT count(DISTINCT s) FROM b WHERE b.k = a.k OR b.k = a.v) FROM a
SELECT id, (SELECT count(*) FROM b JOIN c USING (k) WHERE b.k = a.k OR c.n = a.v) FROM a
SELECT id FROM a WHERE v IN (SELECT v FROM b WHERE b.k = a.k UNION SELECT n FROM c)
SELECT id, (SELECT v FROM b WHERE b.k = a.k AND b.v IS NOT NULL ORDER BY v LIMIT 1 OFFSET 1) FROM a
SELECT id, (SELECT string_agg(s, '' ORDER BY s) FROM (SELECT DISTINCT s FROM b WHERE b.k = a.k) z) FROM a
SELECT id, (SELECT sum(x) FROM unnest(ARRAY[a.k, a.id, 1]) x) FROM a
SELECT id, (SELECT count(*) FROM generate_series(1, a.k) g, b WHERE b.k = g) FROM a
SELECT id, generate_series(1, k), generate_series(1, id), 'x' FROM a
SELECT id, unnest(ARRAY[k, v]) AS x, generate_subscripts(ARRAY[k, v], 1) AS n FROM a
SELECT max(n) FROM (SELECT unnest(ARRAY[1, 2]) + id AS n, generate_series(1, 3) FROM a) z
SELECT * FROM unnest(ARRAY[1, 2, 3], ARRAY['a', 'b']) AS u(x, y)
SELECT id, x, y FROM a, unnest(ARRAY[a.k, a.v], ARRAY[a.id]) AS u(x, y)
