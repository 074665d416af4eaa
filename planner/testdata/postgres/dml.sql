INSERT INTO t VALUES (1, 'a')
INSERT INTO t (id, name) VALUES (1, 'a'), (2, 'b')
INSERT INTO t (id, name) VALUES (1, 'a', 3)
INSERT INTO t (id, name) VALUES (1)
INSERT INTO t (id, nope) VALUES (1, 2)
INSERT INTO t (id, id) VALUES (1, 2)
INSERT INTO t (id, name) VALUES (1, 'a'), (2)
INSERT INTO t (id, name) VALUES ('x', 'a')
INSERT INTO t (id, name) VALUES (true, 'a')
INSERT INTO t (id, name) VALUES (1.5, 5)
INSERT INTO t (id, name, d) VALUES (1, 'a', 5)
INSERT INTO t (id, name) VALUES ($1, $2)
INSERT INTO t (id, name, price, ts) VALUES ($1, $2, $3, $4) RETURNING id, price * 2 AS p
INSERT INTO t (id, name) VALUES (DEFAULT, 'x') RETURNING *
INSERT INTO t (id, name) SELECT id, note FROM u
INSERT INTO t (id, name) SELECT tid, note FROM u
INSERT INTO t (id, name) SELECT note, tid FROM u
INSERT INTO t (id, name, ts) SELECT 1, 'a', '2024-01-01'
INSERT INTO t SELECT 1, 'a'
INSERT INTO t DEFAULT VALUES
INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT DO NOTHING
INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET name = excluded.name
INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET name = excluded.name || t.name, qty = t.qty + 1 WHERE t.qty > excluded.qty
INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET qty = qty + 1
~INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT (nope) DO NOTHING
INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING
INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT ON CONSTRAINT nope DO NOTHING
INSERT INTO t (id, name) VALUES (1, 'a') ON CONFLICT DO UPDATE SET name = 'x'
INSERT INTO nope VALUES (1)
UPDATE t SET name = 'x' WHERE id = 1
UPDATE t SET nope = 1
UPDATE t SET name = 'x', name = 'y'
UPDATE t SET qty = 'x'
UPDATE t SET qty = name
UPDATE t SET qty = $1, price = price + $2 WHERE id = $3 RETURNING id, qty
UPDATE t SET (qty, name) = (1, 'x')
UPDATE t SET (qty, name) = (1, 'x', 2)
UPDATE t SET qty = DEFAULT
UPDATE t SET qty = u.tid FROM u WHERE u.id = t.id RETURNING t.*, u.note
UPDATE t AS x SET qty = x.qty + 1 WHERE x.id = 1
UPDATE t AS x SET qty = t.qty + 1
UPDATE t SET qty = count(*)
UPDATE t SET qty = (SELECT max(tid) FROM u WHERE u.id = t.id)
DELETE FROM t
DELETE FROM t WHERE id = $1 RETURNING *
DELETE FROM t USING u WHERE u.tid = t.id RETURNING u.note
DELETE FROM t WHERE nope = 1
DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.tid = t.id)
DELETE FROM nope
