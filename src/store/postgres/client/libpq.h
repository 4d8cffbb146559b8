// Loads libpq with the first connection. Linking libpq and the libraries it needs would slow down the start of every
// command, and only stores on PostgreSQL use it.
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

/// Returns the loaded library. Unsupported when this system has none, or only a version that is too old.
Result<const Libpq*> loadLibpq();

/// Returns the loaded library, after loadLibpq has succeeded.
const Libpq& libpq();

}  // namespace bough::postgres
