// Package simple holds the operators whose rows do not depend on each other: filter, project, union, literal rows,
// set-returning functions, and the two that hold rows back until a time: a filter on now(), and the step from
// changing rows to final ones.
package simple
