// Includes every public header of bough.
#pragma once

#include "bough/catalog.h"          // IWYU pragma: export
#include "bough/context.h"          // IWYU pragma: export
#include "bough/convert.h"          // IWYU pragma: export
#include "bough/entry.h"            // IWYU pragma: export
#include "bough/error.h"            // IWYU pragma: export
#include "bough/maintenance.h"      // IWYU pragma: export
#include "bough/message.h"          // IWYU pragma: export
#include "bough/session.h"          // IWYU pragma: export
#include "bough/storage_backend.h"  // IWYU pragma: export
#include "bough/store.h"            // IWYU pragma: export
#include "bough/torn.h"             // IWYU pragma: export
#include "bough/transcript.h"       // IWYU pragma: export
#include "bough/tree.h"             // IWYU pragma: export
#include "bough/version.h"          // IWYU pragma: export
