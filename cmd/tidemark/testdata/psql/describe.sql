\d
\dt
\dm
\dv
\ds
\di
\dp
\z
\dE
\du
\dg
\dD
\dc
\dy
\dl
\drds
\dO
\det
\dew
\des
\dRp
\dRs
\dP
\dX
\ddp
\dd
\d nosuch
\dt nosuch
\d t
\d nokey
\d app.two
\d "Odd Name"
\d v
\d mv
\d t_pkey
\d two_b_c_key
\d app.two_b_c_key
\d+ t
\d+ nokey
\d+ app.two
\d+ t_pkey
\dt *.two
\dt app.*
\dT int4
\dT+
\dconfig work_mem
\dn app
\encoding
SELECT id, name, qty, ts, tags FROM t \gdesc
SELECT 1 AS x, 'a'::text AS y, NULL AS z \gdesc
