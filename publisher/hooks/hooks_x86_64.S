/* Hooks that gcc -pg -mfentry -minstrument-return=call inserts after inlining: __fentry__ is called by the first
 * instruction of a function, before its prologue; __return__ just before its `ret`. Also the continuations of hooks
 * that quartz/hooks.h expands in the program, for all but the common case.
 *
 * Owns:    nothing; profile_stack.h describes what they do to the profile stack.
 * Writer:  the running thread. Reader: the sampler.
 * Must not: change any register that may hold an argument or a result (including vector registers), or the red zone.
 *
 * The mark of an entry is the address of the function's return address on the stack. No two live frames have the same,
 * so an entry at the same level as a new one is stale. Marks of other kinds of hooks are negative (profile_stack.h).
 * Offsets in the hot line: word 0, state 16, calls 24, limit 32, high 40; in an entry: key 0, mark 8; in a slot of the
 * call table, found like qzi_pub_slot() does: site 0, key 8, count 16.
 */
#include "abi/hash.h"

	.text

/* Sets %rcx to the address of the function's first byte: its `call` takes 5 bytes, or 6 through the GOT (relaxed by
 * the linker or not), and an endbr64 may precede it. */
	.macro entry_address
	subq	$5, %rcx
	movzwl	-1(%rcx), %eax
	cmpl	$0xe867, %eax		/* addr32 call */
	je	7f
	cmpl	$0x15ff, %eax		/* call *...(%rip) */
	je	7f
6:	cmpl	$0xfa1e0ff3, -4(%rcx)	/* endbr64 */
	je	8f
9:
	.subsection 1
7:	decq	%rcx
	jmp	6b
8:	subq	$4, %rcx
	jmp	9b
	.previous
	.endm

/* Many calls share their first slot with another call: searches the slots that follow. %rax: first slot, %rdx site,
 * %rcx key. Jumps to \found with the slot in %rax; falls through if it is not found. */
	.macro next_slots found
	.rept	4
	subq	24(%r11), %rax
	addl	$32, %eax
	andl	$0x1fffe0, %eax
	addq	24(%r11), %rax
	cmpq	%rdx, (%rax)
	jne	10f
	cmpq	%rcx, 8(%rax)
	je	\found
10:
	.endr
	.endm

/* Calls \function with vector and x87 state saved; its arguments are already in registers. The caller has saved
 * %rbx. */
	.macro call_keeping_all function
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	movl	qzi_xsave_bytes(%rip), %eax
	testl	%eax, %eax
	jz	14f
	subq	%rax, %rsp
	andq	$-64, %rsp
	movq	%rdx, %r10
	xorl	%edx, %edx
	movq	%rdx, 512(%rsp)
	movq	%rdx, 520(%rsp)
	movq	%rdx, 528(%rsp)
	movq	%rdx, 536(%rsp)
	movq	%rdx, 544(%rsp)
	movq	%rdx, 552(%rsp)
	movq	%rdx, 560(%rsp)
	movq	%rdx, 568(%rsp)
	movl	$0xe7, %eax
	xsave64	(%rsp)
	movq	%r10, %rdx
	call	\function
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	15f
14:	subq	$512, %rsp
	andq	$-64, %rsp
	fxsave64 (%rsp)
	call	\function
	fxrstor64 (%rsp)
15:	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	.endm

/* push_all pushes the registers; pop_all pops the same list in reverse order. */
	.macro push_all first, rest:vararg
	pushq	%\first
	.ifnb	\rest
	push_all \rest
	.endif
	.endm
	.macro pop_all first, rest:vararg
	.ifnb	\rest
	pop_all	\rest
	.endif
	popq	%\first
	.endm
/* The same, with unwind information. */
	.macro save first, rest:vararg
	pushq	%\first
	.cfi_adjust_cfa_offset 8
	.ifnb	\rest
	save	\rest
	.endif
	.endm
	.macro restore first, rest:vararg
	.ifnb	\rest
	restore	\rest
	.endif
	popq	%\first
	.cfi_adjust_cfa_offset -8
	.endm

#ifdef QZI_PUB_ONE_THREAD
#define HOT qzi_hot
#else
#define HOT quartz_hot_2
#endif

/* Stages two and three of an entry (fentry) or exit (return). `arguments`: an even number of registers, which hold
 * the arguments of the stages. Everything that must be preserved is already saved, except %rbx and vector registers. */
	.macro stages of, arguments:vararg
	save	rbx
	.cfi_rel_offset rbx, 0
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	andq	$-16, %rsp
	push_all \arguments
	call	qzi_\of\()_second	/* uses no vector register */
	pop_all	\arguments
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	testl	%eax, %eax
	jz	4f
	call_keeping_all qzi_\of\()_third
4:	restore	rbx
	.cfi_same_value rbx
	.endm

/* The stages of an entry. In: record %rdi, key %rsi, site %rdx, mark %rcx, first slot's offset %r8. */
	.macro enter_stages
	stages	fentry, rdi, rsi, rdx, rcx, r8, r8
	.endm

/* The stages of an exit. In: record %rdi, mark %rsi. Preserves all registers that may hold a result. */
	.macro return_stages
	save	rax, rdx
	stages	return, rdi, rsi
	restore	rax, rdx
	.endm

/* Publishing is off: in the pthread layer, jumps to the hook of a thread package that it precedes. */
	.macro nothing_here next
#ifdef QZI_PUB_ONE_THREAD
	movq	\next(%rip), %r11
	testq	%r11, %r11
	jz	13f
	jmp	*%r11
13:
#endif
	ret
	.endm

	.globl	__fentry__
	.type	__fentry__, @function
	.p2align 6
__fentry__:
	.cfi_startproc
	movq	HOT@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	testq	%r11, %r11
	jnz	1f
	nothing_here qzl_next_fentry
1:	save	rax, rcx, rdx, rsi
	movq	32(%rsp), %rcx
	entry_address			/* key */
	movq	40(%rsp), %rdx		/* site */
	leaq	40(%rsp), %rsi		/* mark */
	movl	(%r11), %eax
	cmpq	%rsi, 8(%r11,%rax)
	jle	3f
	cmpl	32(%r11), %eax
	jae	3f
	imull	$(QZ_HASH_FACTOR_32), %ecx, %eax
	leal	(%rax,%rdx,8), %eax
	andl	$0x1fffe0, %eax
	addq	24(%r11), %rax
	cmpq	%rdx, (%rax)
	jne	5f
	cmpq	%rcx, 8(%rax)
	jne	5f
4:	incq	16(%rax)
	movl	(%r11), %eax
	cmpq	%rcx, (%r11,%rax)
	je	2f
	movq	%rsi, 24(%r11,%rax)
	movq	%rcx, 16(%r11,%rax)
	addl	$2, 4(%r11)
	addl	$16, %eax
	movl	%eax, (%r11)
2:	.cfi_remember_state
	restore	rax, rcx, rdx, rsi
	ret
	.cfi_restore_state
5:	next_slots 4b
3:	save	rdi, r8, r9, r10
	leaq	-64(%r11), %rdi
	xchgq	%rcx, %rsi
	imull	$(QZ_HASH_FACTOR_32), %esi, %r8d
	leal	(%r8,%rdx,8), %r8d
	enter_stages
	restore	rdi, r8, r9, r10
	jmp	2b
	.cfi_endproc
	.size	__fentry__, .-__fentry__

	.globl	__return__
	.type	__return__, @function
	.p2align 6
__return__:
	.cfi_startproc
	movq	HOT@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	testq	%r11, %r11
	jnz	1f
	nothing_here qzl_next_return
1:	movl	(%r11), %ecx
	leaq	8(%rsp), %r10
	cmpq	%r10, 8(%r11,%rcx)
	jne	2f
	subl	$16, %ecx
	movl	%ecx, (%r11)
	ret
2:	jl	3f
	movq	40(%r11), %r10
	cmpq	%r10, 8(%r11,%rcx)
	ja	3f
	ret				/* an immediate recursion ends, or the function was entered before publishing began */
3:	save	rsi, rdi		/* functions of __attribute__((ms_abi)) preserve these */
	leaq	24(%rsp), %rsi
	leaq	-64(%r11), %rdi
	return_stages
	restore	rsi, rdi
	ret
	.cfi_endproc
	.size	__return__, .-__return__

/* Continuation of an entry hook in the program, except in the common case. It is jumped to with the stack as at the
 * function's first instruction; %r11 hot line, %rcx where to continue; -8(%rsp) value to restore in %rcx, -16(%rsp)
 * offset of the slot where the search for the call begins, -24(%rsp) key (bit 63: counted). May change %r11 and
 * %rax, which for a variadic function must be at least the number of vector registers used. Unwinders see the
 * function's caller. */
	.type	qzi_entry_goes_on, @function
	.p2align 4
qzi_entry_goes_on:
	.cfi_startproc
	endbr64
	movq	%rcx, -32(%rsp)
	movq	-24(%rsp), %rcx		/* key */
	testq	%rcx, %rcx
	js	4f
	movq	%rdx, -40(%rsp)
	movl	-16(%rsp), %eax
	movq	(%rsp), %rdx		/* site */
	addq	24(%r11), %rax
	next_slots 1f
	jmp	3f
1:	incq	16(%rax)		/* from here on as in the common case */
	movl	(%r11), %eax
	cmpq	%rsp, 8(%r11,%rax)
	jle	2f
	cmpl	32(%r11), %eax
	jae	2f
	cmpq	%rcx, (%r11,%rax)
	je	1f
	movq	%rsp, 24(%r11,%rax)
	movq	%rcx, 16(%r11,%rax)
	addl	$2, 4(%r11)
	addl	$16, %eax
	movl	%eax, (%r11)
1:	movq	-40(%rsp), %rdx
	movq	-32(%rsp), %r11
	movq	-8(%rsp), %rcx
	movl	$8, %eax
	notrack jmp *%r11
2:	btsq	$63, %rcx
	movq	%rcx, -24(%rsp)
3:	movq	-40(%rsp), %rdx
4:	movq	-32(%rsp), %rcx
	subq	$24, %rsp
	.cfi_adjust_cfa_offset 24
	save	rcx, rdx, rsi, rdi, r8, r9, r10
	leaq	-64(%r11), %rdi		/* record */
	leaq	80(%rsp), %rcx		/* mark */
	movq	-24(%rcx), %rsi		/* key */
	movl	-16(%rcx), %r8d
	movq	(%rcx), %rdx		/* site */
	enter_stages
	restore	r11, rdx, rsi, rdi, r8, r9, r10
	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	restore	rcx
	movl	$8, %eax
	notrack jmp *%r11
	.cfi_endproc
	.size	qzi_entry_goes_on, .-qzi_entry_goes_on

/* The same for an exit hook, with the stack as at the function's `ret`; %r11 hot line, %rcx where to continue. */
	.type	qzi_exit_goes_on, @function
	.p2align 4
qzi_exit_goes_on:
	.cfi_startproc
	endbr64
	save	rcx, rsi, rdi
	leaq	24(%rsp), %rsi		/* mark */
	leaq	-64(%r11), %rdi
	return_stages
	restore	rcx, rsi, rdi
	notrack jmp *%rcx
	.cfi_endproc
	.size	qzi_exit_goes_on, .-qzi_exit_goes_on

/* The same, preserving all registers except %r11; %rcx has any value: -8(%rsp) value to restore in it, -16(%rsp)
 * where to continue. */
	.type	qzi_exit_keeping_goes_on, @function
	.p2align 4
qzi_exit_keeping_goes_on:
	.cfi_startproc
	endbr64
	subq	$16, %rsp
	.cfi_adjust_cfa_offset 16
	save	rsi, rdi, r8, r9, r10
	leaq	56(%rsp), %rsi		/* mark */
	leaq	-64(%r11), %rdi
	return_stages
	restore	rsi, rdi, r8, r9, r10
	movq	8(%rsp), %rcx
	movq	(%rsp), %r11
	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	notrack jmp *%r11
	.cfi_endproc
	.size	qzi_exit_keeping_goes_on, .-qzi_exit_keeping_goes_on

	.section .data.rel.ro.local, "aw"
	.globl	qzi_go_on
	.hidden	qzi_go_on
	.p2align 3
qzi_go_on:
	.quad	qzi_entry_goes_on, qzi_exit_goes_on, qzi_exit_keeping_goes_on

	.section .note.GNU-stack, "", @progbits
