/* See print.h. */
#include "print.h"

#include "x86_decode.h"

#ifdef QZI_DECODES

#include <Zydis/Zydis.h>

int qzi_prints(void) { return 1; }

size_t qzi_print(const unsigned char *bytes, size_t left, uint64_t address, char *text, size_t room) {
  ZydisDecoder decoder;
  ZydisFormatter formatter;
  ZydisDecodedInstruction its;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!room || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)) ||
      !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, left, &its, operands)))
    return 0;
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
  if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &its, operands, its.operand_count_visible, text, room,
                                                    address, ZYAN_NULL)))
    text[0] = 0;
  return its.length;
}

#else

int qzi_prints(void) { return 0; }
size_t qzi_print(const unsigned char *bytes, size_t left, uint64_t address, char *text, size_t room) { return 0; }

#endif
