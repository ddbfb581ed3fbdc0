/* The first instructions of a new context, and calls of threads on their joiner's stack, for x86-64 (System V ABI).
 *
 * Owns:    the frame of qzi_call: sp+0 control words (qzi_fp_control; the last two bytes are scratch), sp+8 r15, r14,
 *          r13, r12, rbx, rbp, then the return address.
 * Must not: know how contexts are switched: switch.h.
 */

/* Saves the floating-point control words, like qzi_fp_leave (switch.h). */
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

/* Start of a new context: the first frame of its stack. rax, rdx: (after, arg) of the context that switched here;
 * rbp: the function to call. It has no caller: the return address is undefined, so that unwinders stop here. */
	.globl	qzi_thread_entry
	.hidden	qzi_thread_entry
	.type	qzi_thread_entry, @function
	.p2align 4
qzi_thread_entry:
	.cfi_startproc
	.cfi_undefined rip
	movq	%rax, %rdi
	movq	%rdx, %rsi
	movq	%rbp, %rcx
	xorl	%ebp, %ebp
	call	*%rcx
	ud2
	.cfi_endproc
	.size	qzi_thread_entry, . - qzi_thread_entry

/* Last instruction of a switch to a context that was left in another function: jumps to the pc of the context in
 * rsi. */
	.globl	qzi_switch_elsewhere
	.hidden	qzi_switch_elsewhere
	.type	qzi_switch_elsewhere, @function
	.p2align 4
qzi_switch_elsewhere:
	.cfi_startproc
	.cfi_undefined rip
	jmpq	*8(%rsi)
	.cfi_endproc
	.size	qzi_switch_elsewhere, . - qzi_switch_elsewhere

/* Calls `body` with its own return address as the argument in register `place`, and returns body's `error`. Unless
 * `same_place`, it returns by a jump instead of `ret` (switch.h, struct qzi_back). */
	.macro	RETURNS_ELSEWHERE name, body, place
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	movq	(%rsp), \place
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	\body
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	testq	%rdx, %rdx
	jnz	1f
	.cfi_remember_state
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rcx
	jmpq	*%rcx
	.cfi_restore_state
1:	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	RETURNS_ELSEWHERE qzi_wait_alone, qzi_wait_alone_body, %r8
	RETURNS_ELSEWHERE qzi_transfer, qzi_transfer_body, %r9

/* void *qzi_call(void *(*start)(void *), void *argument, void **exit_sp)
 * Calls start(argument) so that qzi_leave_call can end the call from any depth: *exit_sp is the stack pointer to
 * restore. An exception stops here (personality), because the frames above it on the stack belong to another thread. */
	.section quartz_start,"ax",@progbits
	.globl	qzi_call
	.hidden	qzi_call
	.type	qzi_call, @function
	.p2align 4
qzi_call:
	.cfi_startproc
	.cfi_personality 0x9b, qzi_personality_at
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
	/* a thread may end with other control words than it started with; its joiner must not inherit them */
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

/* void qzi_in_place_return(void *sp, uintptr_t frame): makes the call in place return (thread/in_place.h). */
	.globl	qzi_in_place_return
	.hidden	qzi_in_place_return
	.type	qzi_in_place_return, @function
	.p2align 4
qzi_in_place_return:
	.cfi_startproc
	movq	%rsi, %rbp
	movq	%rdi, %rsp
	jmpq	*-8(%rsp)
	.cfi_endproc
	.size	qzi_in_place_return, . - qzi_in_place_return

/* void qzi_fp_put_back(void): restores the usual control words. */
	.globl	qzi_fp_put_back
	.hidden	qzi_fp_put_back
	.type	qzi_fp_put_back, @function
	.p2align 4
qzi_fp_put_back:
	.cfi_startproc
	ldmxcsr	qzi_fp_usual(%rip)
	fldcw	qzi_fp_usual+4(%rip)
	ret
	.cfi_endproc
	.size	qzi_fp_put_back, . - qzi_fp_put_back

	.section .data.rel.ro.local, "aw"
	.p2align 3
	.globl	qzi_personality_at
	.hidden	qzi_personality_at
	.type	qzi_personality_at, @object
	.size	qzi_personality_at, 8
qzi_personality_at:
	.quad	qzi_personality
	.section .note.GNU-stack, "", @progbits
