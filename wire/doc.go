// Package wire is the server side of PostgreSQL's protocol, version 3. It
// turns bytes on a socket into calls of the session contract (sql/session)
// and what those give back into messages; it knows nothing else of the engine.
//
// The nouns:
//
//   - Server accepts connections and knows them by their backend id;
//   - conn is one connection, run by one goroutine from accept to close;
//   - framer cuts the incoming bytes into messages, out collects outgoing ones;
//   - portal is a running statement with what was read of it but not sent yet;
//   - rowEncoder writes rows of a batch as DataRow messages, copyReader and
//     copyWriter read and write COPY data.
//
// Nothing is buffered whole: rows go from the engine's columns into one output
// buffer that is written at about 64 KB, and COPY data from the input buffer
// into batches. A client that does not read blocks its own goroutine only.
//
// No bytes from the network may make this package panic or hang: a broken
// message is answered with 08P01 and the connection is closed. Should there be
// a bug all the same, the connection's goroutine recovers, answers XX000 and
// closes; other connections do not notice.
package wire
