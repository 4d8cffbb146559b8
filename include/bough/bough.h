// Everything of bough's public face.
#pragma once

#include "bough/branches.h"          // IWYU pragma: export
#include "bough/catalog.h"           // IWYU pragma: export
#include "bough/context.h"           // IWYU pragma: export
#include "bough/convert.h"           // IWYU pragma: export
#include "bough/entry.h"             // IWYU pragma: export
#include "bough/entry_serializer.h"  // IWYU pragma: export
#include "bough/entry_summary.h"     // IWYU pragma: export
#include "bough/error.h"             // IWYU pragma: export
#include "bough/message.h"           // IWYU pragma: export
#include "bough/outline.h"           // IWYU pragma: export
#include "bough/replay.h"            // IWYU pragma: export
#include "bough/report.h"            // IWYU pragma: export
#include "bough/storage_backend.h"   // IWYU pragma: export
#include "bough/store.h"             // IWYU pragma: export
#include "bough/transcript.h"        // IWYU pragma: export
#include "bough/tree.h"              // IWYU pragma: export
#include "bough/tree_drawing.h"      // IWYU pragma: export
#include "bough/usage.h"             // IWYU pragma: export
#include "bough/version.h"           // IWYU pragma: export
