// Package partition runs one operator as several: its keys are hashed into
// slots, each slot is an instance of the operator with state tables of its own,
// and the slots of an epoch run side by side on as many workers as the view has
// state partitions.
//
// The number of slots is fixed when a view is made; a state partition is a
// range of slots. So to change the number of partitions moves no state at all:
// workers take other ranges from the next epoch on. A worker that is done with
// its range takes what is left of others'.
//
// Operators without state that lead to the operator alone, or that its output alone leads to (Step), are part of it: lanes and slots have
// instances of their own.
//
// Rows of one key keep their order, as they all go to one slot in the order in
// which they came. Large batches are cut into portions: each worker copies the
// rows of the next one to the slots, by a lane of its own, and then gives its
// own slots what has come for them, portion by portion. What slots emit goes on
// slot by slot when all is done, so that what an epoch does depends on its rows
// and on the number of slots, never on workers. (But for what an operator shows
// and takes back within one epoch, as a top n may: that comes to nothing.)
//
// What is left, and the rows of small batches, are kept until the epoch ends, or
// until there are many, so that a worker has something to do: handing over work
// costs a microsecond or two.
package partition
