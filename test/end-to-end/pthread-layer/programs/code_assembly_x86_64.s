# See code_assembly.c. By hand: neither directives of unwind information nor a frame pointer.
	.text
	.globl	assembled
	.type	assembled, @function
assembled:
	pushq	%rbx
	pushq	%r12
	subq	$24, %rsp
	movq	%rsi, %rbx
	movq	%rdi, %rax
.Louter:
	movq	$3000, %r12
.Lthree:
	leaq	1(%rax,%rax,2), %rax
	imulq	$1, %rax, %rax
	subq	$1, %r12
	jnz	.Lthree			# three
	movl	$1000, %r12d
.Lone:
	leaq	1(%rax,%rax,2), %rax
	imulq	$1, %rax, %rax
	subq	$1, %r12
	jnz	.Lone			# one
	movq	%rax, %rdi
	call	called
	subq	$1, %rbx
	jnz	.Louter			# outer
	addq	$24, %rsp
	popq	%r12
	popq	%rbx
	ret
	.size	assembled, .-assembled
	.section	.note.GNU-stack, "", @progbits
