const { Client, Pool } = require('pg');
(async () => {
  const c = new Client({ connectionString: process.argv[2] });
  c.on('notice', n => console.log('notice', n.severity, n.message));
  await c.connect();
  await c.query('CREATE TABLE nj (id int primary key, t text, j jsonb, d timestamptz, n numeric, a int[], b bytea)');
  let r = await c.query('INSERT INTO nj VALUES ($1,$2,$3,$4,$5,$6,$7) RETURNING id, t', [1, 'é', { a: 1 }, new Date(0), '1.5', [1, 2], Buffer.from([1, 2])]);
  console.log(r.rows, r.rowCount, r.command);
  r = await c.query('SELECT * FROM nj'); console.log(r.rows, r.fields.map(f => f.name + f.dataTypeID));
  r = await c.query({ name: 'q1', text: 'SELECT id FROM nj WHERE id = $1', values: [1] }); console.log(r.rows);
  r = await c.query({ name: 'q1', text: 'SELECT id FROM nj WHERE id = $1', values: [2] }); console.log(r.rows);
  r = await c.query({ text: 'SELECT 1 AS x, $1::text AS y', values: ['z'], rowMode: 'array' }); console.log(r.rows);
  r = await c.query('SELECT 1; SELECT 2'); console.log(r.map(x => x.rows));
  try { await c.query('SELECT * FROM nope'); } catch (e) { console.log(e.code, e.position, e.message); }
  await c.query('BEGIN'); await c.query('INSERT INTO nj (id) VALUES (5)'); await c.query('ROLLBACK');
  console.log((await c.query('SELECT count(*) FROM nj')).rows);
  await c.query('DROP TABLE nj'); await c.end();
  const p = new Pool({ connectionString: process.argv[2], max: 5 });
  console.log((await Promise.all([...Array(20).keys()].map(i => p.query('SELECT $1::int AS i', [i])))).reduce((s, r) => s + r.rows[0].i, 0));
  await p.end();
})().catch(e => { console.error('ERR', e); process.exit(1); });
