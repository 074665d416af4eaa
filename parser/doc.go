// Package parser turns PostgreSQL text, with Tidemark's streaming additions,
// into the trees of package ast.
//
// It works in five steps:
//
//   - lexer (lex*.go): PostgreSQL's lexical rules; tokens with byte offsets;
//   - statements (stmt_*.go): recursive descent over the tokens for everything
//     that is not a query, and for the literal VALUES list of INSERT, which is
//     the hot path;
//   - translator (translate_*.go): knows clause keywords, primaries and FROM
//     items, and no precedence. It writes a MySQL text of the same structure,
//     in which everything that MySQL lacks travels as a mark;
//   - TiDB's parser (bridge.go): finds the structure: precedence, joins, set
//     operations, nesting;
//   - decoder (decode_*.go): TiDB's tree and the marks become the syntax tree.
//     Every mark is decoded exactly once in a legal role, else the statement
//     is a syntax error at the mark's position.
//
// Only bridge.go and the decode files know TiDB's types.
//
// # Carriers
//
// Literals, columns and parameters are `?`, found again by offset. Calls and
// everything that reads like one (CASE, EXISTS, ARRAY, subscripts, clauses of
// a call) are fN(...), relations tN, where N is the mark. The arithmetic
// operators, comparisons, AND, OR and NOT are written as they are; any other
// infix operator is `a | ? | b`; the LIKE family, IN and BETWEEN are
// `a BETWEEN ? AND b`; IS tests and IS DISTINCT FROM are `a <=> ?` and
// `a <=> ? <=> b`; AT TIME ZONE and COLLATE are `a || ? || b` with
// PIPES_AS_CONCAT; a cast x::t is `x COLLATE pN`. A join of any kind is
// `LEFT JOIN ... ON fN(condition)`, and each SELECT list begins with a mark
// for the block. Where PostgreSQL's precedence differs within a carrier's
// level, the decoder regroups the flat run of operands.
//
// The functions are safe for concurrent use.
package parser
