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
  name("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<int, std::allocator<int> >::push_back");
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
  path("/a/b/../c/./d//e", "/a/c/d/e");
  path("/../x", "/x");
  path("/", "/");
  path("relative/../x", "relative/../x");
  const char *clones[] = {"foo.cold", "foo.part.0", "foo.constprop.1.isra.2", "foo.llvm.123"};
  for (size_t k = 0; k < 4; k++)
    if (qzi_name_base_length(clones[k]) != 3) { printf("clone %s\n", clones[k]); failures++; }
  if (qzi_name_base_length("my.file") != 7) { printf("my.file is no clone\n"); failures++; }
  return failures != 0;
}
