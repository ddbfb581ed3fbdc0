/* Hooks put in after inlining by gcc -pg -mfentry -minstrument-return=call: __fentry__ is called by the first instruction
 * of a function, before its prologue; __return__ just before its `ret`.
 *
 * Owns:    nothing; publish_hooks.c says what they do to the profile stack.
 * Writer:  the running thread. Reader: the sampler.
 * Must not: change any register that may hold an argument or a result (the vector ones included), or the red zone.
 *
 * The mark of an entry is the address of the function's own return address << 16 | 0x7ffff. No two live frames have the
 * same, so an entry that is level with a new one is stale.
 * Offsets in the hot line: word 0, state 16, calls 24, limit 32, high 40; in an entry: key 0, mark 8.
 */
	.text

/* Leaves in %rcx what the function's first byte is: its `call` takes 5 bytes, or 6 through the GOT (relaxed by the
 * linker or not), and an endbr64 may stand before it. */
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

/* Calls \function with vector and x87 state kept; the arguments are in place. %rbx is saved by the caller. */
	.macro call_keeping_all function
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	movl	qzi_xsave_bytes(%rip), %eax
	testl	%eax, %eax
	jz	14f
	subq	%rax, %rsp
	andq	$-64, %rsp
	movq	%rdx, %r8
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
	movq	%r8, %rdx
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

	.macro save register
	pushq	%\register
	.cfi_adjust_cfa_offset 8
	.endm
	.macro restore register
	popq	%\register
	.cfi_adjust_cfa_offset -8
	.endm

/* Nothing is published: in the pthread layer, the hook of a thread package behind it is next. */
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
	movq	qzi_hot@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	testq	%r11, %r11
	jnz	1f
	nothing_here qzl_next_fentry
1:	save	rax
	save	rcx
	save	rdx
	save	rsi
	movq	32(%rsp), %rcx
	entry_address
	movq	40(%rsp), %rdx		/* call site */
	leaq	40(%rsp), %rsi
	shlq	$16, %rsi
	orq	$0x7ffff, %rsi		/* mark */
	movzwl	(%r11), %eax
	cmpq	%rsi, 8(%r11,%rax)
	jbe	3f
	cmpl	32(%r11), %eax
	jae	3f
	movq	%rcx, %rax
	shrq	$4, %rax
	xorq	%rdx, %rax
	movzwl	%ax, %eax
	shlq	$5, %rax
	addq	24(%r11), %rax
	cmpq	%rdx, (%rax)
	jne	3f
	cmpq	%rcx, 8(%rax)
	jne	3f
	incq	16(%rax)
	movq	(%r11), %rax
	movzwl	%ax, %edx
	addq	%r11, %rdx
	cmpq	%rcx, (%rdx)
	je	2f
	movq	%rcx, 16(%rdx)
	movq	%rsi, 24(%rdx)
	addq	$0x20010, %rax
	movq	%rax, (%r11)
2:	.cfi_remember_state
	restore	rsi
	restore	rdx
	restore	rcx
	restore	rax
	ret
	.cfi_restore_state
3:	save	rdi
	save	r8
	save	r9
	save	r10
	save	rbx
	.cfi_rel_offset rbx, 0
	leaq	-64(%r11), %rdi		/* record */
	xchgq	%rcx, %rsi		/* key; mark */
	movq	%rcx, %r8
	movq	%rsi, %r9
	movq	%rdx, %r10
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	andq	$-16, %rsp
	pushq	%rdi
	pushq	%r9
	pushq	%r10
	pushq	%r8
	call	qzi_fentry_second	/* record, key, site, mark; touches no vector register */
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	testl	%eax, %eax
	jz	4f
	call_keeping_all qzi_fentry_third
4:	restore	rbx
	.cfi_same_value rbx
	restore	r10
	restore	r9
	restore	r8
	restore	rdi
	jmp	2b
	.cfi_endproc
	.size	__fentry__, .-__fentry__

	.globl	__return__
	.type	__return__, @function
	.p2align 6
__return__:
	.cfi_startproc
	movq	qzi_hot@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	testq	%r11, %r11
	jnz	1f
	nothing_here qzl_next_return
1:	movq	(%r11), %r10
	leaq	8(%rsp), %rsi
	shlq	$16, %rsi
	orq	$0x7ffff, %rsi
	movzwl	%r10w, %ecx
	movq	8(%r11,%rcx), %rcx
	cmpq	%rsi, %rcx
	jne	2f
	addq	$0x1fff0, %r10
	movq	%r10, (%r11)
	ret
2:	jb	3f
	cmpq	40(%r11), %rcx
	ja	3f
	ret				/* end of an immediate recursion, or entered before anybody looked */
3:	save	rax
	save	rdx
	save	rbx
	.cfi_rel_offset rbx, 0
	leaq	-64(%r11), %rdi
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	andq	$-16, %rsp
	pushq	%rdi
	pushq	%rsi
	call	qzi_return_second	/* record, mark; touches no vector register */
	popq	%rsi
	popq	%rdi
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	testl	%eax, %eax
	jz	4f
	call_keeping_all qzi_return_third
4:	restore	rbx
	.cfi_same_value rbx
	restore	rdx
	restore	rax
	ret
	.cfi_endproc
	.size	__return__, .-__return__

	.section .note.GNU-stack, "", @progbits
