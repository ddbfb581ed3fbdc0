import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'build-*/', 'node_modules/'] },
  {
    files: ['ts-frontend/**/*.ts', 'tui/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['ts-frontend/tsconfig.json', 'ts-frontend/src/html/browser/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unnecessary-condition': 'off', // guards against values from outside stay
      // Tests and benchmarks find what they look for, or fail there.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // What must be there is asked for by functions that check it (model/profile/columns.ts).
    files: ['ts-frontend/src/**/*.ts', 'tui/src/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'error' },
  },
  {
    files: ['ts-frontend/src/model/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 60 }] },
  },
);
