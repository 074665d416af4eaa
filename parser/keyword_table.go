// Code generated from pg_get_keywords() of PostgreSQL 15; DO NOT EDIT.

package parser

// keyword is a PostgreSQL key word; noKeyword is any other identifier. Words that
// only Tidemark's own statements use are no key words and compare by text.
type keyword uint16

// category says where a key word may stand as a name.
type category uint8

const (
	unreserved category = iota
	colName             // may be a column or table name, not a function or type name
	typeFunc            // may be a function or type name
	reserved
)

// The key words, in alphabetical order.
const (
	noKeyword keyword = iota
	kwAbort
	kwAbsolute
	kwAccess
	kwAction
	kwAdd
	kwAdmin
	kwAfter
	kwAggregate
	kwAll
	kwAlso
	kwAlter
	kwAlways
	kwAnalyse
	kwAnalyze
	kwAnd
	kwAny
	kwArray
	kwAs
	kwAsc
	kwAsensitive
	kwAssertion
	kwAssignment
	kwAsymmetric
	kwAt
	kwAtomic
	kwAttach
	kwAttribute
	kwAuthorization
	kwBackward
	kwBefore
	kwBegin
	kwBetween
	kwBigint
	kwBinary
	kwBit
	kwBoolean
	kwBoth
	kwBreadth
	kwBy
	kwCache
	kwCall
	kwCalled
	kwCascade
	kwCascaded
	kwCase
	kwCast
	kwCatalog
	kwChain
	kwChar
	kwCharacter
	kwCharacteristics
	kwCheck
	kwCheckpoint
	kwClass
	kwClose
	kwCluster
	kwCoalesce
	kwCollate
	kwCollation
	kwColumn
	kwColumns
	kwComment
	kwComments
	kwCommit
	kwCommitted
	kwCompression
	kwConcurrently
	kwConfiguration
	kwConflict
	kwConnection
	kwConstraint
	kwConstraints
	kwContent
	kwContinue
	kwConversion
	kwCopy
	kwCost
	kwCreate
	kwCross
	kwCsv
	kwCube
	kwCurrent
	kwCurrentCatalog
	kwCurrentDate
	kwCurrentRole
	kwCurrentSchema
	kwCurrentTime
	kwCurrentTimestamp
	kwCurrentUser
	kwCursor
	kwCycle
	kwData
	kwDatabase
	kwDay
	kwDeallocate
	kwDec
	kwDecimal
	kwDeclare
	kwDefault
	kwDefaults
	kwDeferrable
	kwDeferred
	kwDefiner
	kwDelete
	kwDelimiter
	kwDelimiters
	kwDepends
	kwDepth
	kwDesc
	kwDetach
	kwDictionary
	kwDisable
	kwDiscard
	kwDistinct
	kwDo
	kwDocument
	kwDomain
	kwDouble
	kwDrop
	kwEach
	kwElse
	kwEnable
	kwEncoding
	kwEncrypted
	kwEnd
	kwEnum
	kwEscape
	kwEvent
	kwExcept
	kwExclude
	kwExcluding
	kwExclusive
	kwExecute
	kwExists
	kwExplain
	kwExpression
	kwExtension
	kwExternal
	kwExtract
	kwFalse
	kwFamily
	kwFetch
	kwFilter
	kwFinalize
	kwFirst
	kwFloat
	kwFollowing
	kwFor
	kwForce
	kwForeign
	kwForward
	kwFreeze
	kwFrom
	kwFull
	kwFunction
	kwFunctions
	kwGenerated
	kwGlobal
	kwGrant
	kwGranted
	kwGreatest
	kwGroup
	kwGrouping
	kwGroups
	kwHandler
	kwHaving
	kwHeader
	kwHold
	kwHour
	kwIdentity
	kwIf
	kwIlike
	kwImmediate
	kwImmutable
	kwImplicit
	kwImport
	kwIn
	kwInclude
	kwIncluding
	kwIncrement
	kwIndex
	kwIndexes
	kwInherit
	kwInherits
	kwInitially
	kwInline
	kwInner
	kwInout
	kwInput
	kwInsensitive
	kwInsert
	kwInstead
	kwInt
	kwInteger
	kwIntersect
	kwInterval
	kwInto
	kwInvoker
	kwIs
	kwIsnull
	kwIsolation
	kwJoin
	kwKey
	kwLabel
	kwLanguage
	kwLarge
	kwLast
	kwLateral
	kwLeading
	kwLeakproof
	kwLeast
	kwLeft
	kwLevel
	kwLike
	kwLimit
	kwListen
	kwLoad
	kwLocal
	kwLocaltime
	kwLocaltimestamp
	kwLocation
	kwLock
	kwLocked
	kwLogged
	kwMapping
	kwMatch
	kwMatched
	kwMaterialized
	kwMaxvalue
	kwMerge
	kwMethod
	kwMinute
	kwMinvalue
	kwMode
	kwMonth
	kwMove
	kwName
	kwNames
	kwNational
	kwNatural
	kwNchar
	kwNew
	kwNext
	kwNfc
	kwNfd
	kwNfkc
	kwNfkd
	kwNo
	kwNone
	kwNormalize
	kwNormalized
	kwNot
	kwNothing
	kwNotify
	kwNotnull
	kwNowait
	kwNull
	kwNullif
	kwNulls
	kwNumeric
	kwObject
	kwOf
	kwOff
	kwOffset
	kwOids
	kwOld
	kwOn
	kwOnly
	kwOperator
	kwOption
	kwOptions
	kwOr
	kwOrder
	kwOrdinality
	kwOthers
	kwOut
	kwOuter
	kwOver
	kwOverlaps
	kwOverlay
	kwOverriding
	kwOwned
	kwOwner
	kwParallel
	kwParameter
	kwParser
	kwPartial
	kwPartition
	kwPassing
	kwPassword
	kwPlacing
	kwPlans
	kwPolicy
	kwPosition
	kwPreceding
	kwPrecision
	kwPrepare
	kwPrepared
	kwPreserve
	kwPrimary
	kwPrior
	kwPrivileges
	kwProcedural
	kwProcedure
	kwProcedures
	kwProgram
	kwPublication
	kwQuote
	kwRange
	kwRead
	kwReal
	kwReassign
	kwRecheck
	kwRecursive
	kwRef
	kwReferences
	kwReferencing
	kwRefresh
	kwReindex
	kwRelative
	kwRelease
	kwRename
	kwRepeatable
	kwReplace
	kwReplica
	kwReset
	kwRestart
	kwRestrict
	kwReturn
	kwReturning
	kwReturns
	kwRevoke
	kwRight
	kwRole
	kwRollback
	kwRollup
	kwRoutine
	kwRoutines
	kwRow
	kwRows
	kwRule
	kwSavepoint
	kwSchema
	kwSchemas
	kwScroll
	kwSearch
	kwSecond
	kwSecurity
	kwSelect
	kwSequence
	kwSequences
	kwSerializable
	kwServer
	kwSession
	kwSessionUser
	kwSet
	kwSetof
	kwSets
	kwShare
	kwShow
	kwSimilar
	kwSimple
	kwSkip
	kwSmallint
	kwSnapshot
	kwSome
	kwSql
	kwStable
	kwStandalone
	kwStart
	kwStatement
	kwStatistics
	kwStdin
	kwStdout
	kwStorage
	kwStored
	kwStrict
	kwStrip
	kwSubscription
	kwSubstring
	kwSupport
	kwSymmetric
	kwSysid
	kwSystem
	kwTable
	kwTables
	kwTablesample
	kwTablespace
	kwTemp
	kwTemplate
	kwTemporary
	kwText
	kwThen
	kwTies
	kwTime
	kwTimestamp
	kwTo
	kwTrailing
	kwTransaction
	kwTransform
	kwTreat
	kwTrigger
	kwTrim
	kwTrue
	kwTruncate
	kwTrusted
	kwType
	kwTypes
	kwUescape
	kwUnbounded
	kwUncommitted
	kwUnencrypted
	kwUnion
	kwUnique
	kwUnknown
	kwUnlisten
	kwUnlogged
	kwUntil
	kwUpdate
	kwUser
	kwUsing
	kwVacuum
	kwValid
	kwValidate
	kwValidator
	kwValue
	kwValues
	kwVarchar
	kwVariadic
	kwVarying
	kwVerbose
	kwVersion
	kwView
	kwViews
	kwVolatile
	kwWhen
	kwWhere
	kwWhitespace
	kwWindow
	kwWith
	kwWithin
	kwWithout
	kwWork
	kwWrapper
	kwWrite
	kwXml
	kwXmlattributes
	kwXmlconcat
	kwXmlelement
	kwXmlexists
	kwXmlforest
	kwXmlnamespaces
	kwXmlparse
	kwXmlpi
	kwXmlroot
	kwXmlserialize
	kwXmltable
	kwYear
	kwYes
	kwZone
)

type keywordInfo struct {
	word string
	cat  category
	bare bool // may be a column label without AS
}

var keywords = [...]keywordInfo{
	noKeyword:          {"", unreserved, true},
	kwAbort:            {"abort", unreserved, true},
	kwAbsolute:         {"absolute", unreserved, true},
	kwAccess:           {"access", unreserved, true},
	kwAction:           {"action", unreserved, true},
	kwAdd:              {"add", unreserved, true},
	kwAdmin:            {"admin", unreserved, true},
	kwAfter:            {"after", unreserved, true},
	kwAggregate:        {"aggregate", unreserved, true},
	kwAll:              {"all", reserved, true},
	kwAlso:             {"also", unreserved, true},
	kwAlter:            {"alter", unreserved, true},
	kwAlways:           {"always", unreserved, true},
	kwAnalyse:          {"analyse", reserved, true},
	kwAnalyze:          {"analyze", reserved, true},
	kwAnd:              {"and", reserved, true},
	kwAny:              {"any", reserved, true},
	kwArray:            {"array", reserved, false},
	kwAs:               {"as", reserved, false},
	kwAsc:              {"asc", reserved, true},
	kwAsensitive:       {"asensitive", unreserved, true},
	kwAssertion:        {"assertion", unreserved, true},
	kwAssignment:       {"assignment", unreserved, true},
	kwAsymmetric:       {"asymmetric", reserved, true},
	kwAt:               {"at", unreserved, true},
	kwAtomic:           {"atomic", unreserved, true},
	kwAttach:           {"attach", unreserved, true},
	kwAttribute:        {"attribute", unreserved, true},
	kwAuthorization:    {"authorization", typeFunc, true},
	kwBackward:         {"backward", unreserved, true},
	kwBefore:           {"before", unreserved, true},
	kwBegin:            {"begin", unreserved, true},
	kwBetween:          {"between", colName, true},
	kwBigint:           {"bigint", colName, true},
	kwBinary:           {"binary", typeFunc, true},
	kwBit:              {"bit", colName, true},
	kwBoolean:          {"boolean", colName, true},
	kwBoth:             {"both", reserved, true},
	kwBreadth:          {"breadth", unreserved, true},
	kwBy:               {"by", unreserved, true},
	kwCache:            {"cache", unreserved, true},
	kwCall:             {"call", unreserved, true},
	kwCalled:           {"called", unreserved, true},
	kwCascade:          {"cascade", unreserved, true},
	kwCascaded:         {"cascaded", unreserved, true},
	kwCase:             {"case", reserved, true},
	kwCast:             {"cast", reserved, true},
	kwCatalog:          {"catalog", unreserved, true},
	kwChain:            {"chain", unreserved, true},
	kwChar:             {"char", colName, false},
	kwCharacter:        {"character", colName, false},
	kwCharacteristics:  {"characteristics", unreserved, true},
	kwCheck:            {"check", reserved, true},
	kwCheckpoint:       {"checkpoint", unreserved, true},
	kwClass:            {"class", unreserved, true},
	kwClose:            {"close", unreserved, true},
	kwCluster:          {"cluster", unreserved, true},
	kwCoalesce:         {"coalesce", colName, true},
	kwCollate:          {"collate", reserved, true},
	kwCollation:        {"collation", typeFunc, true},
	kwColumn:           {"column", reserved, true},
	kwColumns:          {"columns", unreserved, true},
	kwComment:          {"comment", unreserved, true},
	kwComments:         {"comments", unreserved, true},
	kwCommit:           {"commit", unreserved, true},
	kwCommitted:        {"committed", unreserved, true},
	kwCompression:      {"compression", unreserved, true},
	kwConcurrently:     {"concurrently", typeFunc, true},
	kwConfiguration:    {"configuration", unreserved, true},
	kwConflict:         {"conflict", unreserved, true},
	kwConnection:       {"connection", unreserved, true},
	kwConstraint:       {"constraint", reserved, true},
	kwConstraints:      {"constraints", unreserved, true},
	kwContent:          {"content", unreserved, true},
	kwContinue:         {"continue", unreserved, true},
	kwConversion:       {"conversion", unreserved, true},
	kwCopy:             {"copy", unreserved, true},
	kwCost:             {"cost", unreserved, true},
	kwCreate:           {"create", reserved, false},
	kwCross:            {"cross", typeFunc, true},
	kwCsv:              {"csv", unreserved, true},
	kwCube:             {"cube", unreserved, true},
	kwCurrent:          {"current", unreserved, true},
	kwCurrentCatalog:   {"current_catalog", reserved, true},
	kwCurrentDate:      {"current_date", reserved, true},
	kwCurrentRole:      {"current_role", reserved, true},
	kwCurrentSchema:    {"current_schema", typeFunc, true},
	kwCurrentTime:      {"current_time", reserved, true},
	kwCurrentTimestamp: {"current_timestamp", reserved, true},
	kwCurrentUser:      {"current_user", reserved, true},
	kwCursor:           {"cursor", unreserved, true},
	kwCycle:            {"cycle", unreserved, true},
	kwData:             {"data", unreserved, true},
	kwDatabase:         {"database", unreserved, true},
	kwDay:              {"day", unreserved, false},
	kwDeallocate:       {"deallocate", unreserved, true},
	kwDec:              {"dec", colName, true},
	kwDecimal:          {"decimal", colName, true},
	kwDeclare:          {"declare", unreserved, true},
	kwDefault:          {"default", reserved, true},
	kwDefaults:         {"defaults", unreserved, true},
	kwDeferrable:       {"deferrable", reserved, true},
	kwDeferred:         {"deferred", unreserved, true},
	kwDefiner:          {"definer", unreserved, true},
	kwDelete:           {"delete", unreserved, true},
	kwDelimiter:        {"delimiter", unreserved, true},
	kwDelimiters:       {"delimiters", unreserved, true},
	kwDepends:          {"depends", unreserved, true},
	kwDepth:            {"depth", unreserved, true},
	kwDesc:             {"desc", reserved, true},
	kwDetach:           {"detach", unreserved, true},
	kwDictionary:       {"dictionary", unreserved, true},
	kwDisable:          {"disable", unreserved, true},
	kwDiscard:          {"discard", unreserved, true},
	kwDistinct:         {"distinct", reserved, true},
	kwDo:               {"do", reserved, true},
	kwDocument:         {"document", unreserved, true},
	kwDomain:           {"domain", unreserved, true},
	kwDouble:           {"double", unreserved, true},
	kwDrop:             {"drop", unreserved, true},
	kwEach:             {"each", unreserved, true},
	kwElse:             {"else", reserved, true},
	kwEnable:           {"enable", unreserved, true},
	kwEncoding:         {"encoding", unreserved, true},
	kwEncrypted:        {"encrypted", unreserved, true},
	kwEnd:              {"end", reserved, true},
	kwEnum:             {"enum", unreserved, true},
	kwEscape:           {"escape", unreserved, true},
	kwEvent:            {"event", unreserved, true},
	kwExcept:           {"except", reserved, false},
	kwExclude:          {"exclude", unreserved, true},
	kwExcluding:        {"excluding", unreserved, true},
	kwExclusive:        {"exclusive", unreserved, true},
	kwExecute:          {"execute", unreserved, true},
	kwExists:           {"exists", colName, true},
	kwExplain:          {"explain", unreserved, true},
	kwExpression:       {"expression", unreserved, true},
	kwExtension:        {"extension", unreserved, true},
	kwExternal:         {"external", unreserved, true},
	kwExtract:          {"extract", colName, true},
	kwFalse:            {"false", reserved, true},
	kwFamily:           {"family", unreserved, true},
	kwFetch:            {"fetch", reserved, false},
	kwFilter:           {"filter", unreserved, false},
	kwFinalize:         {"finalize", unreserved, true},
	kwFirst:            {"first", unreserved, true},
	kwFloat:            {"float", colName, true},
	kwFollowing:        {"following", unreserved, true},
	kwFor:              {"for", reserved, false},
	kwForce:            {"force", unreserved, true},
	kwForeign:          {"foreign", reserved, true},
	kwForward:          {"forward", unreserved, true},
	kwFreeze:           {"freeze", typeFunc, true},
	kwFrom:             {"from", reserved, false},
	kwFull:             {"full", typeFunc, true},
	kwFunction:         {"function", unreserved, true},
	kwFunctions:        {"functions", unreserved, true},
	kwGenerated:        {"generated", unreserved, true},
	kwGlobal:           {"global", unreserved, true},
	kwGrant:            {"grant", reserved, false},
	kwGranted:          {"granted", unreserved, true},
	kwGreatest:         {"greatest", colName, true},
	kwGroup:            {"group", reserved, false},
	kwGrouping:         {"grouping", colName, true},
	kwGroups:           {"groups", unreserved, true},
	kwHandler:          {"handler", unreserved, true},
	kwHaving:           {"having", reserved, false},
	kwHeader:           {"header", unreserved, true},
	kwHold:             {"hold", unreserved, true},
	kwHour:             {"hour", unreserved, false},
	kwIdentity:         {"identity", unreserved, true},
	kwIf:               {"if", unreserved, true},
	kwIlike:            {"ilike", typeFunc, true},
	kwImmediate:        {"immediate", unreserved, true},
	kwImmutable:        {"immutable", unreserved, true},
	kwImplicit:         {"implicit", unreserved, true},
	kwImport:           {"import", unreserved, true},
	kwIn:               {"in", reserved, true},
	kwInclude:          {"include", unreserved, true},
	kwIncluding:        {"including", unreserved, true},
	kwIncrement:        {"increment", unreserved, true},
	kwIndex:            {"index", unreserved, true},
	kwIndexes:          {"indexes", unreserved, true},
	kwInherit:          {"inherit", unreserved, true},
	kwInherits:         {"inherits", unreserved, true},
	kwInitially:        {"initially", reserved, true},
	kwInline:           {"inline", unreserved, true},
	kwInner:            {"inner", typeFunc, true},
	kwInout:            {"inout", colName, true},
	kwInput:            {"input", unreserved, true},
	kwInsensitive:      {"insensitive", unreserved, true},
	kwInsert:           {"insert", unreserved, true},
	kwInstead:          {"instead", unreserved, true},
	kwInt:              {"int", colName, true},
	kwInteger:          {"integer", colName, true},
	kwIntersect:        {"intersect", reserved, false},
	kwInterval:         {"interval", colName, true},
	kwInto:             {"into", reserved, false},
	kwInvoker:          {"invoker", unreserved, true},
	kwIs:               {"is", typeFunc, true},
	kwIsnull:           {"isnull", typeFunc, false},
	kwIsolation:        {"isolation", unreserved, true},
	kwJoin:             {"join", typeFunc, true},
	kwKey:              {"key", unreserved, true},
	kwLabel:            {"label", unreserved, true},
	kwLanguage:         {"language", unreserved, true},
	kwLarge:            {"large", unreserved, true},
	kwLast:             {"last", unreserved, true},
	kwLateral:          {"lateral", reserved, true},
	kwLeading:          {"leading", reserved, true},
	kwLeakproof:        {"leakproof", unreserved, true},
	kwLeast:            {"least", colName, true},
	kwLeft:             {"left", typeFunc, true},
	kwLevel:            {"level", unreserved, true},
	kwLike:             {"like", typeFunc, true},
	kwLimit:            {"limit", reserved, false},
	kwListen:           {"listen", unreserved, true},
	kwLoad:             {"load", unreserved, true},
	kwLocal:            {"local", unreserved, true},
	kwLocaltime:        {"localtime", reserved, true},
	kwLocaltimestamp:   {"localtimestamp", reserved, true},
	kwLocation:         {"location", unreserved, true},
	kwLock:             {"lock", unreserved, true},
	kwLocked:           {"locked", unreserved, true},
	kwLogged:           {"logged", unreserved, true},
	kwMapping:          {"mapping", unreserved, true},
	kwMatch:            {"match", unreserved, true},
	kwMatched:          {"matched", unreserved, true},
	kwMaterialized:     {"materialized", unreserved, true},
	kwMaxvalue:         {"maxvalue", unreserved, true},
	kwMerge:            {"merge", unreserved, true},
	kwMethod:           {"method", unreserved, true},
	kwMinute:           {"minute", unreserved, false},
	kwMinvalue:         {"minvalue", unreserved, true},
	kwMode:             {"mode", unreserved, true},
	kwMonth:            {"month", unreserved, false},
	kwMove:             {"move", unreserved, true},
	kwName:             {"name", unreserved, true},
	kwNames:            {"names", unreserved, true},
	kwNational:         {"national", colName, true},
	kwNatural:          {"natural", typeFunc, true},
	kwNchar:            {"nchar", colName, true},
	kwNew:              {"new", unreserved, true},
	kwNext:             {"next", unreserved, true},
	kwNfc:              {"nfc", unreserved, true},
	kwNfd:              {"nfd", unreserved, true},
	kwNfkc:             {"nfkc", unreserved, true},
	kwNfkd:             {"nfkd", unreserved, true},
	kwNo:               {"no", unreserved, true},
	kwNone:             {"none", colName, true},
	kwNormalize:        {"normalize", colName, true},
	kwNormalized:       {"normalized", unreserved, true},
	kwNot:              {"not", reserved, true},
	kwNothing:          {"nothing", unreserved, true},
	kwNotify:           {"notify", unreserved, true},
	kwNotnull:          {"notnull", typeFunc, false},
	kwNowait:           {"nowait", unreserved, true},
	kwNull:             {"null", reserved, true},
	kwNullif:           {"nullif", colName, true},
	kwNulls:            {"nulls", unreserved, true},
	kwNumeric:          {"numeric", colName, true},
	kwObject:           {"object", unreserved, true},
	kwOf:               {"of", unreserved, true},
	kwOff:              {"off", unreserved, true},
	kwOffset:           {"offset", reserved, false},
	kwOids:             {"oids", unreserved, true},
	kwOld:              {"old", unreserved, true},
	kwOn:               {"on", reserved, false},
	kwOnly:             {"only", reserved, true},
	kwOperator:         {"operator", unreserved, true},
	kwOption:           {"option", unreserved, true},
	kwOptions:          {"options", unreserved, true},
	kwOr:               {"or", reserved, true},
	kwOrder:            {"order", reserved, false},
	kwOrdinality:       {"ordinality", unreserved, true},
	kwOthers:           {"others", unreserved, true},
	kwOut:              {"out", colName, true},
	kwOuter:            {"outer", typeFunc, true},
	kwOver:             {"over", unreserved, false},
	kwOverlaps:         {"overlaps", typeFunc, false},
	kwOverlay:          {"overlay", colName, true},
	kwOverriding:       {"overriding", unreserved, true},
	kwOwned:            {"owned", unreserved, true},
	kwOwner:            {"owner", unreserved, true},
	kwParallel:         {"parallel", unreserved, true},
	kwParameter:        {"parameter", unreserved, true},
	kwParser:           {"parser", unreserved, true},
	kwPartial:          {"partial", unreserved, true},
	kwPartition:        {"partition", unreserved, true},
	kwPassing:          {"passing", unreserved, true},
	kwPassword:         {"password", unreserved, true},
	kwPlacing:          {"placing", reserved, true},
	kwPlans:            {"plans", unreserved, true},
	kwPolicy:           {"policy", unreserved, true},
	kwPosition:         {"position", colName, true},
	kwPreceding:        {"preceding", unreserved, true},
	kwPrecision:        {"precision", colName, false},
	kwPrepare:          {"prepare", unreserved, true},
	kwPrepared:         {"prepared", unreserved, true},
	kwPreserve:         {"preserve", unreserved, true},
	kwPrimary:          {"primary", reserved, true},
	kwPrior:            {"prior", unreserved, true},
	kwPrivileges:       {"privileges", unreserved, true},
	kwProcedural:       {"procedural", unreserved, true},
	kwProcedure:        {"procedure", unreserved, true},
	kwProcedures:       {"procedures", unreserved, true},
	kwProgram:          {"program", unreserved, true},
	kwPublication:      {"publication", unreserved, true},
	kwQuote:            {"quote", unreserved, true},
	kwRange:            {"range", unreserved, true},
	kwRead:             {"read", unreserved, true},
	kwReal:             {"real", colName, true},
	kwReassign:         {"reassign", unreserved, true},
	kwRecheck:          {"recheck", unreserved, true},
	kwRecursive:        {"recursive", unreserved, true},
	kwRef:              {"ref", unreserved, true},
	kwReferences:       {"references", reserved, true},
	kwReferencing:      {"referencing", unreserved, true},
	kwRefresh:          {"refresh", unreserved, true},
	kwReindex:          {"reindex", unreserved, true},
	kwRelative:         {"relative", unreserved, true},
	kwRelease:          {"release", unreserved, true},
	kwRename:           {"rename", unreserved, true},
	kwRepeatable:       {"repeatable", unreserved, true},
	kwReplace:          {"replace", unreserved, true},
	kwReplica:          {"replica", unreserved, true},
	kwReset:            {"reset", unreserved, true},
	kwRestart:          {"restart", unreserved, true},
	kwRestrict:         {"restrict", unreserved, true},
	kwReturn:           {"return", unreserved, true},
	kwReturning:        {"returning", reserved, false},
	kwReturns:          {"returns", unreserved, true},
	kwRevoke:           {"revoke", unreserved, true},
	kwRight:            {"right", typeFunc, true},
	kwRole:             {"role", unreserved, true},
	kwRollback:         {"rollback", unreserved, true},
	kwRollup:           {"rollup", unreserved, true},
	kwRoutine:          {"routine", unreserved, true},
	kwRoutines:         {"routines", unreserved, true},
	kwRow:              {"row", colName, true},
	kwRows:             {"rows", unreserved, true},
	kwRule:             {"rule", unreserved, true},
	kwSavepoint:        {"savepoint", unreserved, true},
	kwSchema:           {"schema", unreserved, true},
	kwSchemas:          {"schemas", unreserved, true},
	kwScroll:           {"scroll", unreserved, true},
	kwSearch:           {"search", unreserved, true},
	kwSecond:           {"second", unreserved, false},
	kwSecurity:         {"security", unreserved, true},
	kwSelect:           {"select", reserved, true},
	kwSequence:         {"sequence", unreserved, true},
	kwSequences:        {"sequences", unreserved, true},
	kwSerializable:     {"serializable", unreserved, true},
	kwServer:           {"server", unreserved, true},
	kwSession:          {"session", unreserved, true},
	kwSessionUser:      {"session_user", reserved, true},
	kwSet:              {"set", unreserved, true},
	kwSetof:            {"setof", colName, true},
	kwSets:             {"sets", unreserved, true},
	kwShare:            {"share", unreserved, true},
	kwShow:             {"show", unreserved, true},
	kwSimilar:          {"similar", typeFunc, true},
	kwSimple:           {"simple", unreserved, true},
	kwSkip:             {"skip", unreserved, true},
	kwSmallint:         {"smallint", colName, true},
	kwSnapshot:         {"snapshot", unreserved, true},
	kwSome:             {"some", reserved, true},
	kwSql:              {"sql", unreserved, true},
	kwStable:           {"stable", unreserved, true},
	kwStandalone:       {"standalone", unreserved, true},
	kwStart:            {"start", unreserved, true},
	kwStatement:        {"statement", unreserved, true},
	kwStatistics:       {"statistics", unreserved, true},
	kwStdin:            {"stdin", unreserved, true},
	kwStdout:           {"stdout", unreserved, true},
	kwStorage:          {"storage", unreserved, true},
	kwStored:           {"stored", unreserved, true},
	kwStrict:           {"strict", unreserved, true},
	kwStrip:            {"strip", unreserved, true},
	kwSubscription:     {"subscription", unreserved, true},
	kwSubstring:        {"substring", colName, true},
	kwSupport:          {"support", unreserved, true},
	kwSymmetric:        {"symmetric", reserved, true},
	kwSysid:            {"sysid", unreserved, true},
	kwSystem:           {"system", unreserved, true},
	kwTable:            {"table", reserved, true},
	kwTables:           {"tables", unreserved, true},
	kwTablesample:      {"tablesample", typeFunc, true},
	kwTablespace:       {"tablespace", unreserved, true},
	kwTemp:             {"temp", unreserved, true},
	kwTemplate:         {"template", unreserved, true},
	kwTemporary:        {"temporary", unreserved, true},
	kwText:             {"text", unreserved, true},
	kwThen:             {"then", reserved, true},
	kwTies:             {"ties", unreserved, true},
	kwTime:             {"time", colName, true},
	kwTimestamp:        {"timestamp", colName, true},
	kwTo:               {"to", reserved, false},
	kwTrailing:         {"trailing", reserved, true},
	kwTransaction:      {"transaction", unreserved, true},
	kwTransform:        {"transform", unreserved, true},
	kwTreat:            {"treat", colName, true},
	kwTrigger:          {"trigger", unreserved, true},
	kwTrim:             {"trim", colName, true},
	kwTrue:             {"true", reserved, true},
	kwTruncate:         {"truncate", unreserved, true},
	kwTrusted:          {"trusted", unreserved, true},
	kwType:             {"type", unreserved, true},
	kwTypes:            {"types", unreserved, true},
	kwUescape:          {"uescape", unreserved, true},
	kwUnbounded:        {"unbounded", unreserved, true},
	kwUncommitted:      {"uncommitted", unreserved, true},
	kwUnencrypted:      {"unencrypted", unreserved, true},
	kwUnion:            {"union", reserved, false},
	kwUnique:           {"unique", reserved, true},
	kwUnknown:          {"unknown", unreserved, true},
	kwUnlisten:         {"unlisten", unreserved, true},
	kwUnlogged:         {"unlogged", unreserved, true},
	kwUntil:            {"until", unreserved, true},
	kwUpdate:           {"update", unreserved, true},
	kwUser:             {"user", reserved, true},
	kwUsing:            {"using", reserved, true},
	kwVacuum:           {"vacuum", unreserved, true},
	kwValid:            {"valid", unreserved, true},
	kwValidate:         {"validate", unreserved, true},
	kwValidator:        {"validator", unreserved, true},
	kwValue:            {"value", unreserved, true},
	kwValues:           {"values", colName, true},
	kwVarchar:          {"varchar", colName, true},
	kwVariadic:         {"variadic", reserved, true},
	kwVarying:          {"varying", unreserved, false},
	kwVerbose:          {"verbose", typeFunc, true},
	kwVersion:          {"version", unreserved, true},
	kwView:             {"view", unreserved, true},
	kwViews:            {"views", unreserved, true},
	kwVolatile:         {"volatile", unreserved, true},
	kwWhen:             {"when", reserved, true},
	kwWhere:            {"where", reserved, false},
	kwWhitespace:       {"whitespace", unreserved, true},
	kwWindow:           {"window", reserved, false},
	kwWith:             {"with", reserved, false},
	kwWithin:           {"within", unreserved, false},
	kwWithout:          {"without", unreserved, false},
	kwWork:             {"work", unreserved, true},
	kwWrapper:          {"wrapper", unreserved, true},
	kwWrite:            {"write", unreserved, true},
	kwXml:              {"xml", unreserved, true},
	kwXmlattributes:    {"xmlattributes", colName, true},
	kwXmlconcat:        {"xmlconcat", colName, true},
	kwXmlelement:       {"xmlelement", colName, true},
	kwXmlexists:        {"xmlexists", colName, true},
	kwXmlforest:        {"xmlforest", colName, true},
	kwXmlnamespaces:    {"xmlnamespaces", colName, true},
	kwXmlparse:         {"xmlparse", colName, true},
	kwXmlpi:            {"xmlpi", colName, true},
	kwXmlroot:          {"xmlroot", colName, true},
	kwXmlserialize:     {"xmlserialize", colName, true},
	kwXmltable:         {"xmltable", colName, true},
	kwYear:             {"year", unreserved, false},
	kwYes:              {"yes", unreserved, true},
	kwZone:             {"zone", unreserved, true},
}
