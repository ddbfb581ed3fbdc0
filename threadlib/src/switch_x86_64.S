/* Context switch for x86-64 (System V ABI).
 *
 * Owns:    the layout of a saved context. Saved by its owner at the moment it is left:
 *            sp+0  mxcsr (4 bytes), x87 control word (2 bytes), 2 bytes free
 *            sp+8  r15, r14, r13, r12, rbx, rbp, then the address to go on at
 * Must not: jump to where the other context goes on. qzi_switch is called, and so was the one that saved that context, mostly
 *           from the same place: with `ret` the return predictor stays in step, and so it predicts the returns of the
 *           callers too. A jump leaves it one entry off (yield among 2 threads: 19 ns, with `ret` 11 ns).
 */

/* Control words. Reading mxcsr takes 4 to 5 ns, the x87 word next to nothing; and what sets rounding or traps (fesetround,
 * feenableexcept, fesetenv) sets both. So the x87 word tells whether a thread has other ones than usual, and only then is
 * mxcsr read; else the usual one is stored. A thread that changes mxcsr alone is not seen (docs/threads.md). */
	.macro	SAVE_CONTROL label
	fnstcw	4(%rsp)
	movl	qzi_fp_usual(%rip), %r8d
	movzwl	4(%rsp), %r9d
	movl	%r8d, (%rsp)
	cmpw	qzi_fp_usual+4(%rip), %r9w
	jne	.Lread_\label
.Lsaved_\label:
	.endm
	.macro	READ_CONTROL label
.Lread_\label:
	stmxcsr	(%rsp)
	jmp	.Lsaved_\label
	.endm

	.text

/* struct qzi_passed qzi_switch(void **save, void *to, void (*after)(void *), void *arg)
 * Saves the caller's context in *save, goes on at `to`, and hands (after, arg) over to whoever goes on there. */
	.globl	qzi_switch
	.hidden	qzi_switch
	.type	qzi_switch, @function
	.p2align 6
qzi_switch:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r15, 0
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	SAVE_CONTROL switch
	movq	%rdx, %rax
	movq	%rcx, %rdx
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	cmpw	4(%rsp), %r9w
	jne	.Lload_control
.Lcontrol_done:
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore r15
	popq	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore r14
	popq	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore r13
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore r12
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	ret
	.cfi_adjust_cfa_offset 56
	.cfi_rel_offset rbp, 48
	.cfi_rel_offset rbx, 40
	.cfi_rel_offset r12, 32
	.cfi_rel_offset r13, 24
	.cfi_rel_offset r14, 16
	.cfi_rel_offset r15, 8
.Lload_control:
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	jmp	.Lcontrol_done
	READ_CONTROL switch
	.cfi_endproc
	.size	qzi_switch, . - qzi_switch

/* Where a new context begins: the first frame of its stack. rax, rdx: (after, arg) of who switched here; rbx: the function
 * that it is for. No caller: the return address is undefined, so that unwinders stop here. */
	.globl	qzi_thread_entry
	.hidden	qzi_thread_entry
	.type	qzi_thread_entry, @function
	.p2align 4
qzi_thread_entry:
	.cfi_startproc
	.cfi_undefined rip
	movq	%rax, %rdi
	movq	%rdx, %rsi
	xorl	%ebp, %ebp
	call	*%rbx
	ud2
	.cfi_endproc
	.size	qzi_thread_entry, . - qzi_thread_entry

/* void *qzi_call(void *(*start)(void *), void *argument, void **exit_sp)
 * Calls start(argument) so that qzi_leave_call can end it from any depth: *exit_sp is the stack pointer to come back to.
 * An exception stops here (personality): what is below belongs to another thread. */
	.section quartz_start,"ax",@progbits
	.globl	qzi_call
	.hidden	qzi_call
	.type	qzi_call, @function
	.p2align 4
qzi_call:
	.cfi_startproc
	.cfi_personality 0x9b, .Lpersonality
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rbx
	.cfi_offset rbx, -24
	pushq	%r12
	.cfi_offset r12, -32
	pushq	%r13
	.cfi_offset r13, -40
	pushq	%r14
	.cfi_offset r14, -48
	pushq	%r15
	.cfi_offset r15, -56
	subq	$8, %rsp
	SAVE_CONTROL call
	movq	%rsp, (%rdx)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	/* a thread may end with other control words than it began with; its joiner must not inherit them */
	fnstcw	6(%rsp)
	movzwl	6(%rsp), %ecx
	cmpw	4(%rsp), %cx
	jne	.Lput_back
.Lcall_back:
	addq	$8, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	.cfi_restore rbp
	.cfi_restore rbx
	.cfi_restore r12
	.cfi_restore r13
	.cfi_restore r14
	.cfi_restore r15
	.cfi_def_cfa rsp, 8
	ret
	.cfi_adjust_cfa_offset 56
	.cfi_rel_offset rbp, 48
	.cfi_rel_offset rbx, 40
	.cfi_rel_offset r12, 32
	.cfi_rel_offset r13, 24
	.cfi_rel_offset r14, 16
	.cfi_rel_offset r15, 8
.Lput_back:
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	jmp	.Lcall_back
	READ_CONTROL call
	.cfi_endproc
	.size	qzi_call, . - qzi_call
	.text

/* void qzi_leave_call(void *exit_sp, void *result): makes the qzi_call that stored exit_sp return `result`. */
	.globl	qzi_leave_call
	.hidden	qzi_leave_call
	.type	qzi_leave_call, @function
	.p2align 4
qzi_leave_call:
	.cfi_startproc
	movq	%rdi, %rsp
	movq	%rsi, %rax
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	jmp	.Lcall_back
	.cfi_endproc
	.size	qzi_leave_call, . - qzi_leave_call

	.section .data.rel.ro.local, "aw"
	.p2align 3
	.type	.Lpersonality, @object
	.size	.Lpersonality, 8
.Lpersonality:
	.quad	qzi_personality
	.section .note.GNU-stack, "", @progbits
