#!/usr/bin/env node
await import('../../dist/ts-frontend/src/main.js');
