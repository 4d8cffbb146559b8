// Keeps fork(2) out while a thread is inside SQLite.
//
// SQLite has mutexes of its own for the whole process and does not know of fork: a child that was made while another
// thread held one of them would wait for it forever. So fork waits until the calls that are inside have ended, and
// calls that come meanwhile wait until it is done.
#pragma once

namespace bough::capi {

/// Is inside as long as it lives. A thread that is inside may come again, and may fork.
class InsideGate {
 public:
  InsideGate();
  InsideGate(const InsideGate&) = delete;
  InsideGate& operator=(const InsideGate&) = delete;
  ~InsideGate();
};

}  // namespace bough::capi
