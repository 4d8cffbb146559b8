// libpq, loaded with the first connection. With the libraries that it needs, it would make the start of every command
// longer, and only stores on PostgreSQL use it.
#pragma once

#include <libpq-fe.h>

#include "bough/error.h"

namespace bough::postgres {

// The functions that this folder calls.
#define BOUGH_LIBPQ_FUNCTIONS(use)                                                                                    \
  use(PQconnectdbParams) use(PQstatus) use(PQerrorMessage) use(PQfinish) use(PQsocket) use(PQsetnonblocking)          \
      use(PQenterPipelineMode) use(PQpipelineSync) use(PQsendPrepare) use(PQsendQueryPrepared) use(PQsendQueryParams) \
          use(PQflush) use(PQconsumeInput) use(PQisBusy) use(PQgetResult) use(PQresultStatus) use(PQresultErrorField) \
              use(PQresultErrorMessage) use(PQclear) use(PQntuples) use(PQnfields) use(PQgetisnull) use(PQgetvalue)   \
                  use(PQgetlength) use(PQnotifies) use(PQfreemem) use(PQsetSingleRowMode) use(PQconninfoParse)        \
                      use(PQconninfoFree) use(PQsetNoticeProcessor) use(PQserverVersion) use(PQparameterStatus)       \
                          use(PQcmdTuples) use(PQtransactionStatus) use(PQconnectStartParams) use(PQconnectPoll)      \
                              use(PQsetErrorVerbosity) use(PQconninfo)

struct Libpq {
#define BOUGH_LIBPQ_MEMBER(name) decltype(&::name) name = nullptr;
  BOUGH_LIBPQ_FUNCTIONS(BOUGH_LIBPQ_MEMBER)
#undef BOUGH_LIBPQ_MEMBER
};

/// The loaded library. Unsupported when this system has none, or one that is too old.
Result<const Libpq*> loadLibpq();

/// The same, after loadLibpq has succeeded.
const Libpq& libpq();

}  // namespace bough::postgres
