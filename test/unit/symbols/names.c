/* Demangled names without their parameters, and paths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symbols/internal.h>

static int failures;
static void expect(const char *what, const char *got, const char *wanted) {
  if (strcmp(got, wanted) == 0) return;
  printf("%s: got \"%s\", wanted \"%s\"\n", what, got, wanted);
  failures++;
}

static void name(const char *demangled, const char *wanted) {
  char *out = malloc(strlen(demangled) + 1);
  qzi_name_without_parameters(demangled, out);
  expect(demangled, out, wanted);
  free(out);
}

static void rust(const char *mangled, const char *wanted) {
  char *out = qzi_rust_demangle(mangled);
  expect(mangled, out ? out : "(none)", wanted);
  free(out);
}

/* A mangled name whose arguments are (), and tuples of two that each refer to the previous one. */
static void doubling(char *out, int levels) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t before = (size_t)sprintf(out, "_RINvC1a1fu") - 3; /* places are counted from the end of "_R" */
  for (int level = 0; level < levels; level++) {
    size_t here = strlen(out) - 2, value = before - 1;
    char back[8];
    if (value < 62)
      sprintf(back, "B%c_", digits[value]);
    else
      sprintf(back, "B%c%c_", digits[value / 62], digits[value % 62]);
    sprintf(out + strlen(out), "T%s%sE", back, back);
    before = here;
  }
  strcat(out, "E");
}

static void path(const char *given, const char *wanted) {
  char *copy = strdup(given);
  qzi_path_normalize(copy);
  expect(given, copy, wanted);
  free(copy);
}

int main(void) {
  name("foo(int, char const*)", "foo");
  name("ns::Class::method() const", "ns::Class::method");
  name("void run<int>(std::function<void (int)>)", "run<int>");
  name("std::vector<int, std::allocator<int> >::push_back(int const&)",
       "std::vector<int, std::allocator<int> >::push_back");
  name("(anonymous namespace)::hidden(double)", "(anonymous namespace)::hidden");
  name("int (anonymous namespace)::pick<int>(int)", "(anonymous namespace)::pick<int>");
  name("operator<<(shapes::Box, int)", "operator<<");
  name("std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>");
  name("Functor::operator()(int) const", "Functor::operator()");
  name("std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()");
  name("Thing::operator bool() const", "Thing::operator bool");
  name("Thing::operator std::vector<int>() &&", "Thing::operator std::vector<int>");
  name("operator new(unsigned long)", "operator new");
  name("operator<(Box const&, Box const&)", "operator<");
  name("Box::operator->() const", "Box::operator->");
  name("myoperator<int>(int)", "myoperator<int>");
  name("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()");
  name("f(int)::Local::g()", "f(int)::Local::g");
  name("C::f() const::{lambda()#1}::operator()() const", "C::f() const::{lambda()#1}::operator()");
  name("decltype(auto) call<int>(int)", "call<int>");
  name("foo(int) [clone .cold]", "foo");
  name("text[abi:cxx11](int)", "text[abi:cxx11]");
  name("vtable for shapes::Box", "vtable for shapes::Box");
  name("table", "table");
  rust("_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar");
  rust("_RNvMCs4_1mNtB2_5Cache6refill", "m::Cache::refill");
  rust("_RNCNvCs4_1m5mutex0Bs_", "m::mutex::{closure#0}");
  rust("_RNCNvCs4_1m4main0B3_", "m::main::{closure#0}");
  rust("_RNvXs1_CsX_1mNtB5_5CacheNtNtNtCs_4core3ops4drop4Drop4drop", "<m::Cache as core::ops::drop::Drop>::drop");
  rust("_RINvNtCs_4core3ptr13drop_in_placeINtNtCs_5alloc3vec3VecmEECs_1m",
       "core::ptr::drop_in_place::<alloc::vec::Vec<u32>>");
  rust("_RINvC1a1fRShTxyEAhj4_FUKCPmEuDNtC1a1TEL_E",
       "a::f::<&[u8], (i64, u64), [u8; 4], unsafe extern \"C\" fn(*const u32), dyn a::T>");
  rust("_RINvC1a1fKb1_Kln7b_E", "a::f::<true, -123>");
  rust("_RNvNtCslNYArtu3iFV_5alloc5boxed3new", "alloc::boxed::new");
  rust("_RNvC1a", "(none)");
  rust("_RB_", "(none)");
  rust("_RNvB_3bar", "(none)");
  rust("_Z3foov", "(none)");
  rust("_RINvC1a1fB7_E", "(none)");
  rust("_ZN1m4burn17h0a6cdd2a9026bd3fE", "m::burn");
  rust("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h168e94e611939a97E", "std::rt::lang_start::{{closure}}");
  rust("_ZN50_$LT$m..Cache$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
       "<m::Cache as core::ops::drop::Drop>::drop");
  rust("_ZN5plain4nameE", "(none)");
  char doubled[2048];
  doubling(doubled, 2);
  rust(doubled, "a::f::<(), ((), ()), (((), ()), ((), ()))>");
  doubling(doubled, 60); /* too long for any memory */
  rust(doubled, "(none)");
  if (!qzi_rust_standard("_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeNtC1m1GE")) {
    printf("core is Rust's own\n");
    failures++;
  }
  if (!qzi_rust_standard("_RNSNvYNCINvNtNtCsjrHSEGnQ3l9_3std6thread9lifecycle15spawn_uncheckeduE0u4core")) {
    printf("a shim of std is Rust's own\n");
    failures++;
  }
  if (qzi_rust_standard("_RNvMCskK7mfDs1mzF_1mNtB2_5Cache6refill")) {
    printf("m is not Rust's own\n");
    failures++;
  }
  if (!qzi_rust_made_for("_RINvNtNtC3std3sys9backtrace28___rust_begin_short_backtraceNCNvC1m7condvar0uEB_")) {
    printf("made for a closure of m\n");
    failures++;
  }
  if (qzi_rust_made_for("_RNCNvNtC3std6thread5sleep0B_")) {
    printf("std's own closure\n");
    failures++;
  }
  char fortran[32];
  expect("a Fortran module", qzi_name_fortran("__heat_MOD_step", fortran) ? fortran : "(none)", "heat::step");
  if (qzi_name_fortran("___MOD_x", fortran) || qzi_name_fortran("__heat_MOD_", fortran) ||
      qzi_name_fortran("heat_MOD_step", fortran)) {
    printf("no Fortran\n");
    failures++;
  }
  char critical[40];
  expect("a critical section", qzi_name_critical(".gomp_critical_user_sum", critical) ? critical : "(none)",
         "omp critical(sum)");
  expect("LLVM's", qzi_name_critical(".gomp_critical_user_sum.var", critical) ? critical : "(none)",
         "omp critical(sum)");
  expect("without a name", qzi_name_critical(".gomp_critical_user_.var", critical) ? critical : "(none)",
         "omp critical");
  if (qzi_name_critical("gomp_critical_user_sum", critical)) {
    printf("no critical section\n");
    failures++;
  }
  char variant[40];
  expect("a variant", qzi_name_variant("__strcmp_evex", variant) ? variant : "(none)", "strcmp");
  expect("one with more", qzi_name_variant("__memmove_avx_unaligned_erms", variant) ? variant : "(none)", "memmove");
  if (qzi_name_variant("__memcpy_chk", variant) || qzi_name_variant("my_avx", variant) ||
      qzi_name_variant("__mem_evex", variant)) {
    printf("no variant\n");
    failures++;
  }
  path("/a/b/../c/./d//e", "/a/c/d/e");
  path("/../x", "/x");
  path("/", "/");
  path("relative/../x", "relative/../x");
  const char *clones[] = {"foo.cold", "foo.part.0", "foo.constprop.1.isra.2", "foo.llvm.123"};
  for (size_t k = 0; k < 4; k++)
    if (qzi_name_base_length(clones[k]) != 3) {
      printf("clone %s\n", clones[k]);
      failures++;
    }
  if (qzi_name_region("run._omp_fn.0", 13) != 10 || qzi_name_region("run.omp_outlined", 16) != 13 ||
      qzi_name_region("run", 3) || qzi_name_base_length("run._omp_fn.1.cold") != 13) {
    printf("bodies of OpenMP regions\n");
    failures++;
  }
  if (qzi_name_base_length("my.file") != 7) {
    printf("my.file is no clone\n");
    failures++;
  }
  return failures != 0;
}
