/* The point at which exceptions stop: a thread that is called on its joiner's stack must not unwind into the joiner.
 *
 * Owns:    nothing.
 * Reader:  the unwinder of the language's run-time library, through the frame of qzi_call (entry_*.S). Debuggers can
 *          unwind through that frame; an exception finds no handler beyond it, so C++ calls std::terminate.
 * Must not: depend on a library: it uses only the types of the unwinder.
 */
#include <stdint.h>
#include <unwind.h>

__attribute__((visibility("hidden"))) _Unwind_Reason_Code qzi_personality(int version, _Unwind_Action actions,
                                                                          uint64_t exception_class,
                                                                          struct _Unwind_Exception *exception,
                                                                          struct _Unwind_Context *context) {
  return actions & _UA_SEARCH_PHASE ? _URC_END_OF_STACK : _URC_FATAL_PHASE2_ERROR;
}
