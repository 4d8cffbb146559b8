// Converts a failed call to a JavaScript error.
#pragma once

#include <node_api.h>

#include <string>

#include "call.h"
#include "values.h"

namespace {

napi_value errorOf(napi_env env, const Call& call) {
  napi_value error = nullptr;
  std::string text = call.hint.empty() ? call.message : call.message + " (" + call.hint + ")";
  // JavaScript never passes a handle of another kind, so the handle was closed.
  if (call.code == BOUGH_BAD_HANDLE) text = "the store or the session was closed (open it again)";
  napi_create_error(env, stringOf(env, codeName(call.code)), stringOf(env, text), &error);
  set(env, error, "hint", stringOf(env, call.hint));
  set(env, error, "tail", stringOf(env, call.tail));
  set(env, error, "batchPlace", numberOf(env, static_cast<double>(call.place)));
  napi_value retryable = nullptr;
  napi_get_boolean(env, call.retryable, &retryable);
  set(env, error, "retryable", retryable);
  return error;
}

}  // namespace
