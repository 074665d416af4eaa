// Package nexmark is the connector of the Nexmark benchmark: the people, auctions and bids of an online auction, made up as they are read.
//
//   - options.go reads the options, which have RisingWave's names, and fits columns to the fields of an event;
//   - generator.go has the proportions, times and ids of events as the published generator does (Apache Beam's, which Flink's and
//     RisingWave's follow), random.go the numbers that are drawn;
//   - person.go, auction.go and bid.go fill columns; source.go cuts the events into chunks.
//
// Events are numbered, and everything of an event follows from its number: any range can be made again, in any order, which is what makes a
// source of them exactly once. Whatever is drawn at random is drawn for one field of one event, so that a column is filled in one loop and
// columns that a stream does not have cost nothing.
package nexmark
