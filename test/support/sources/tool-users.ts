/** Integration tests that need a tool of `node test/prepare.ts --tools`: checkers, other JavaScript runtimes, Python programs, MinIO without patches. */
export const TOOL_USERS: readonly string[] = [
  'test/integration/chart/{monitoring,network-engine,static-checks}.test.ts',
  'test/integration/clients/*.test.ts',
  'test/integration/delivery/signatures.test.ts',
  'test/integration/docs/prose.test.ts',
  'test/integration/fuzz/fuzz.test.ts',
  'test/integration/release/workflow.test.ts',
  'test/integration/setup/identities.test.ts',
  'test/integration/storage/unsigned-writes.test.ts',
  'test/integration/tilt/tiltfile.test.ts',
]
