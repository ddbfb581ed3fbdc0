import tseslint from 'typescript-eslint';

const only = (files, rule) => ({ files, rules: { 'no-restricted-imports': ['error', rule] } });

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'build-*/', 'node_modules/'] },
  {
    files: ['ts-frontend/**/*.ts', 'tui/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: 'ts-frontend/tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Indexes count as in range, or the model's arithmetic on columns would be all assertions; `?? x` guards the rest.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  // Who may use whom: docs/architecture.md. test/repo/architecture.test.ts holds every language to it.
  only(['ts-frontend/src/model/**/*.ts'], {
    patterns: [{ regex: '^(?!\\./|\\.\\./(?!\\.\\.))', message: 'the model does no I/O and imports only its own files' }],
  }),
  only(['ts-frontend/src/render/**/*.ts'], {
    patterns: [{ regex: '^(?!\\./|(\\.\\./)+model/|\\.\\./(options|text|units)\\.js$)', message: 'rendering sees the model only' }],
  }),
);
