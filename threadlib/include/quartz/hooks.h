/* Hooks at the entry and exit of procedures, expanded in the program: compilers for x86-64 put them in after inlining,
 * by
 *
 *     gcc    -include quartz/hooks.h -pg -mfentry -minstrument-return=call -fno-optimize-sibling-calls
 *     clang  -include quartz/hooks.h -pg -mfentry -fno-integrated-as -fno-optimize-sibling-calls
 *
 * (`quartz cflags` prints it). This file defines assembler macros. With gcc, one of the name `call` makes the hook's
 * code of a `call __fentry__` and `call __return__` and leaves all other calls as they are. Clang writes `callq
 * __fentry__` and marks returns by nothing: a second macro, `retq`, puts the exit's code before each return of the
 * file, where it finds nothing to do if there was no entry. Clang's own assembler does not look for macros in compiled
 * code, so that GNU's is needed. Files that gcc compiles without this one, or in a way that it can't handle (see
 * below), call the same two functions of Quartz's library. A program that is linked without Quartz runs as well: its
 * hooks are off.
 *
 * Owns:    the plain cases of a hook; hooks_x86_64.S and fentry.c of the thread package have the others and say what
 *          hooks do, and what the offsets are.
 * Writer:  the running thread. Reader: the sampler.
 * Must not: change a register but %r11, the flags and, at an entry, %rax, of which functions of a variable number of
 * arguments alone want something: no less than the number of vector registers used, so 8, and %r10, which no function
 * of C or C++ is given anything in (where gcc makes nested functions, it keeps it over the hook: fentry.c); at an exit
 * that gcc knows of, %rcx and %r10.
 *
 * The number in the names is the version of all that hooks and library must agree on.
 */
#ifndef QUARTZ_HOOKS_H
#define QUARTZ_HOOKS_H

/* Not: -fcf-protection=branch, where a function's first byte is not at a fixed distance from its hook; the large code
 * model. -masm=intel can't be detected here: the assembler will refuse. */
#if defined(__x86_64__) && defined(__LP64__) && defined(__GNUC__) && !defined(__ASSEMBLER__)
#if !(defined(__CET__) && __CET__ & 1) && !defined(__code_model_large__) && !defined(__code_model_medium__)
#define QUARTZ_HOOKS_EXPANDED 1
#elif defined(__clang__)
#error "quartz: hooks with clang need -fcf-protection=none and the small code model; or use quartz cflags --hooks all"
#endif
#endif
#ifdef QUARTZ_HOOKS_EXPANDED
#ifndef QUARTZ_HOT_2
#define QUARTZ_HOT_2 "quartz_hot_2"
#endif
/* A slot of the table of guesses (below); not in shared libraries, which could not reach a table of each thread at
 * once. */
#if !defined(QUARTZ_GUESS_3) && (defined(__PIE__) || !defined(__PIC__))
#define QUARTZ_GUESS_3(column, index) "%fs:quartz_guess_3@tpoff + " column "(" index ")"
#define QUARTZ_GUESSES_3
#endif
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Woverlength-strings" /* of a program with -std=c89 -pedantic */
#endif
__asm__(
  "  .ifndef .Lquartz_hooks_2\n" /* with -flto it can come several times */
  "  .set .Lquartz_hooks_2, 1\n"
#ifdef __clang__
  "  .ifndef .gasversion.\n"
  "  .error \"quartz: hooks with clang need -fno-integrated-as, and no -flto; or take the flags of quartz cflags "
  "--hooks all\"\n"
  "  .endif\n"
#endif

#ifndef QUARTZ_HOOKS_MACROS_ONLY
  /* The stack of the thread that runs is at the hot line (%r11); 0: nothing is published. */
  "  .weak quartz_hot_2\n"
  "  .section .tbss.quartz_hot_2, \"awTG\", @nobits, quartz_hot_2, comdat\n"
  "  .type quartz_hot_2, @tls_object\n"
  "  .size quartz_hot_2, 8\n"
  "  .p2align 3\n"
  "quartz_hot_2: .zero 8\n"
#ifdef QUARTZ_GUESSES_3
  "  .weak quartz_guess_3\n"
  "  .hidden quartz_guess_3\n"
  "  .section .tbss.quartz_guess_3, \"awTG\", @nobits, quartz_guess_3, comdat\n"
  "  .type quartz_guess_3, @tls_object\n"
  "  .size quartz_guess_3, 2048\n"
  "  .p2align 6\n"
  "quartz_guess_3: .zero 2048\n"
#endif
  "  .text\n"
#endif

  "  .macro quartz_get_hot_2\n"
#if defined(__PIE__) || !defined(__PIC__)
  "  movq %fs:" QUARTZ_HOT_2 "@tpoff, %r11\n"
#else
  "  movq " QUARTZ_HOT_2 "@gottpoff(%rip), %r11\n"
  "  movq %fs:(%r11), %r11\n"
#endif
  "  .endm\n"

/* The stack's packed word (abi/session.h) is read and written in parts, each in one width, or loads would wait for
 * stores: the lower half is the place of the top; the upper one counts pushes, without which no earlier word comes
 * back.
 *
 * An entry does not load where the top is, it guesses, and compares: the top is where it was the last time that the
 * stack pointer was the same, in this function or one of a fourth of all. So what it stores depends on nothing that the
 * hooks before it have just stored, which would take seven cycles each. A guess that is wrong costs time only.
 *
 * No guess is a place that is the limit of a record, so that a right one needs no comparison with it: there are two
 * limits, that of records that go on in longer ones and, beyond, that of all others of the process (private.h). */
#define QUARTZ_SHORT_LIMIT_3    176
#define QUARTZ_TEXT_3(value)    QUARTZ_TEXT_OF_3(value)
#define QUARTZ_TEXT_OF_3(value) #value

/* Counts the call by its return address and the function, drops stale entries (go_on), pushes unless the function is on
 * top. */
/* Where the search for the slot begins depends on a number that each function has for itself. */
#define QUARTZ_COLUMN_3         "(.Lquartz_first_2 >> 22 & 3) * 4"
  "  .set .Lquartz_first_2, 1\n"
  "  .macro quartz_entry_2\n"
  "  .set .Lquartz_first_2, (.Lquartz_first_2 * 1103515245 + 12345) & 0xffffffff\n"
  "661: quartz_get_hot_2\n"
  "  testq %r11, %r11\n"
  "  jz 669f\n"
  "  movq (%rsp), %r10\n"
  "  leal (.Lquartz_first_2 & 0x1fffe0)(,%r10,8), %eax\n"
  "  andl $0x1fffe0, %eax\n"
  "  addq 24(%r11), %rax\n"
  "  cmpq %r10, (%rax)\n"
  "  jne 663f\n"
  "  leaq 661b(%rip), %r10\n"
  "  cmpq %r10, 8(%rax)\n"
  "  jne 663f\n"
  "  incq 16(%rax)\n"
#ifdef QUARTZ_GUESS_3
  "  movl %esp, %eax\n"
  "  andl $0x7f0, %eax\n"
  "  movl " QUARTZ_GUESS_3(
    QUARTZ_COLUMN_3,
    "%rax") ", %eax\n"
            "  cmpl %eax, (%r11)\n"
            "  jne 665f\n"
            "666:\n"
#else
  "  movl (%r11), %eax\n"
#endif
            "  cmpq %rsp, 8(%r11,%rax)\n"
            "  jle 662f\n"
            "  cmpq %r10, (%r11,%rax)\n"
            "  je 668f\n"
#ifndef QUARTZ_GUESS_3
            "  cmpl 32(%r11), %eax\n"
            "  jae 662f\n"
#endif
            "  movq %rsp, 24(%r11,%rax)\n" /* first: see push() of instrument.h */
            "  movq %r10, 16(%r11,%rax)\n"
            "  addl $2, 4(%r11)\n" /* before the new top: or an earlier word might come back */
            "  addl $16, %eax\n"
            "  movl %eax, (%r11)\n"
            "668: movl $8, %eax\n"
            "669:\n"
            "  .subsection 1\n"
            "662: leaq 661b(%rip), %rax\n"
            "  btsq $63, %rax\n"
            "  jmp 664f\n"
            "663: subq 24(%r11), %rax\n"
            "  movl %eax, -16(%rsp)\n"
            "  leaq 661b(%rip), %rax\n"
            "664: movq %rax, -24(%rsp)\n"
            "  movq %rcx, -8(%rsp)\n"
            "  leaq 669b(%rip), %rcx\n"
            "  movq -8(%r11), %rax\n"
            "  jmp *(%rax)\n"
#ifdef QUARTZ_GUESS_3
            "665: movl (%r11), %eax\n"
            "  cmpl 32(%r11), %eax\n"
            "  jae 667f\n"
            "  cmpl $" QUARTZ_TEXT_3(
              QUARTZ_SHORT_LIMIT_3) ", %eax\n"
                                    "  je 666b\n"
                                    "  movl %esp, %r10d\n"
                                    "  andl $0x7f0, %r10d\n"
                                    "  movl %eax, " QUARTZ_GUESS_3(
                                      QUARTZ_COLUMN_3,
                                      "%r10") "\n"
                                              "  leaq 661b(%rip), %r10\n"
                                              "  jmp 666b\n"
                                              "667: cmpq %r10, (%r11,%rax)\n" /* no room for another, but perhaps none
                                                                                 is needed */
                                              "  jne 662b\n"
                                              "  cmpq %rsp, 8(%r11,%rax)\n"
                                              "  jg 668b\n"
                                              "  jmp 662b\n"
#endif
                                              "  .previous\n"
                                              "  .endm\n"

                                              /* Pops the function, if it was pushed. */
                                              "  .macro quartz_exit_2\n"
                                              "  quartz_get_hot_2\n"
                                              "  testq %r11, %r11\n"
                                              "  jz 679f\n"
                                              "  movl (%r11), %r10d\n"
                                              "  cmpq %rsp, 8(%r11,%r10)\n"
                                              "  jne 672f\n"
                                              "  subl $16, %r10d\n"
                                              "  movl %r10d, (%r11)\n"
                                              "679:\n"
                                              "  .subsection 1\n"
                                              "672: jl 673f\n"
                                              "  movq 40(%r11), %rcx\n"
                                              "  cmpq %rcx, 8(%r11,%r10)\n"
                                              "  jbe 679b\n" /* end of an immediate recursion, or entered before anybody
                                                                looked */
                                              "673: leaq 679b(%rip), %rcx\n"
                                              "  movq -8(%r11), %r10\n"
                                              "  jmp *8(%r10)\n"
                                              "  .previous\n"
                                              "  .endm\n"

#ifndef QUARTZ_HOOKS_MACROS_ONLY
#ifdef __clang__
                                              "  .macro callq to:vararg\n"
                                              "  .ifc \\to,__fentry__\n"
                                              "  quartz_entry_2\n"
                                              "  .else\n"
                                              "  {load} callq \\to\n"
                                              "  .endif\n"
                                              "  .endm\n"
                                              /* Clang writes prefixes of calls of __tls_get_addr on lines of their own,
                                                 of which GNU's assembler warns. */
                                              "  .macro data16 rest:vararg\n"
                                              "  .byte 0x66\n"
                                              "  \\rest\n"
                                              "  .endm\n"
                                              /* The same as quartz_exit_2, with all registers kept: code that is no
                                                 procedure may return, too. */
                                              "  .macro retq bytes:vararg\n"
                                              "  quartz_get_hot_2\n"
                                              "  testq %r11, %r11\n"
                                              "  jz 679f\n"
                                              "  movq %rcx, -8(%rsp)\n"
                                              "  movl (%r11), %ecx\n"
                                              "  cmpq %rsp, 8(%r11,%rcx)\n"
                                              "  jne 672f\n"
                                              "  subl $16, %ecx\n"
                                              "  movl %ecx, (%r11)\n"
                                              "  movq -8(%rsp), %rcx\n"
                                              "679: {load} retq \\bytes\n"
                                              "  .subsection 1\n"
                                              "672: jl 673f\n"
                                              "  movq 8(%r11,%rcx), %rcx\n"
                                              "  cmpq %rcx, 40(%r11)\n"
                                              "  movq -8(%rsp), %rcx\n"
                                              "  jae 679b\n"
                                              "673: leaq 679b(%rip), %rcx\n"
                                              "  movq %rcx, -16(%rsp)\n"
                                              "  movq -8(%r11), %rcx\n"
                                              "  jmp *16(%rcx)\n"
                                              "  .previous\n"
                                              "  .endm\n"
#else
                                              "  .macro call to:vararg\n"
                                              "  .ifc \\to,__fentry__\n"
                                              "  quartz_entry_2\n"
                                              "  .else\n"
                                              "  .ifc \\to,*__fentry__@GOTPCREL(%rip)\n"
                                              "  quartz_entry_2\n"
                                              "  .else\n"
                                              "  .ifc \\to,__return__\n"
                                              "  quartz_exit_2\n"
                                              "  .else\n"
                                              "  {load} call \\to\n"
                                              "  .endif\n"
                                              "  .endif\n"
                                              "  .endif\n"
                                              "  .endm\n"
#endif

                                              /* Tells the library, if there is one, where the hooks of this module
                                                 look: once in each module. */
                                              "  .weak quartz_hooks_module_2\n"
                                              "  .section .text.quartz_begins_2, \"axG\", @progbits, quartz_begins_2, "
                                              "comdat\n"
                                              "  .weak quartz_begins_2\n"
                                              "  .hidden quartz_begins_2\n"
                                              "  .type quartz_begins_2, @function\n"
                                              "quartz_begins_2:\n"
                                              "  movl $1, %esi\n"
                                              "680: movq quartz_hooks_module_2@GOTPCREL(%rip), %rax\n"
                                              "  movq quartz_hot_2@gottpoff(%rip), %rdi\n"
                                              "  testq %rax, %rax\n"
                                              "  jz 681f\n"
                                              "  jmp *%rax\n"
                                              "681: ret\n"
                                              "682: xorl %esi, %esi\n"
                                              "  jmp 680b\n"
                                              "  .size quartz_begins_2, .-quartz_begins_2\n"

                                              /* gprof, which a program linked with -pg would start, stays off even
                                                 where there is no Quartz. */
                                              "  .weak __monstartup, _mcleanup\n"
                                              "  .hidden __monstartup, _mcleanup\n"
                                              "  .type __monstartup, @function\n"
                                              "  .type _mcleanup, @function\n"
                                              "__monstartup:\n"
                                              "_mcleanup:\n"
                                              "  ret\n"
                                              "  .section .init_array, \"awG\", @init_array, quartz_begins_2, comdat\n"
                                              "  .p2align 3\n"
                                              "  .quad quartz_begins_2\n"
                                              "  .section .fini_array, \"awG\", @fini_array, quartz_begins_2, comdat\n"
                                              "  .p2align 3\n"
                                              "  .quad 682b\n"
                                              "  .text\n"
#endif
                                              "  .endif\n");
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#endif
#endif
