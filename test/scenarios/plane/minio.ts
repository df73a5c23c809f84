import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run } from '../../cluster/host/exec.ts'
import { applyPatches, readTestPatches } from '../../cluster/programs/minio-patches.ts'
import { buildEnvironment, prepareMinioSource } from '../../cluster/programs/programs.ts'
import { scenario } from '../harness/scenario.ts'

/** Upstream's tests of the patched files and of their callers. */
const TEST_FILES = [
  'api-headers_test.go',
  'auth-handler_test.go',
  'bucket-policy-handlers_test.go',
  'generic-handlers_test.go',
  'handler-utils_test.go',
  'object-handlers_test.go',
  'post-policy_test.go',
  'server_test.go',
  'signature-v4-parser_test.go',
  'signature-v4-utils_test.go',
  'signature-v4_test.go',
  'streaming-signature-v4_test.go',
]
const MINUTES = 30

/** The names of the tests in a Go file. */
const testNames = (text: string): string[] => [...text.matchAll(/^func (Test\w+)\(/gm)].map(([, name]) => name!)

/** Counts top-level results in the output of `go test -v`. */
function countResults(output: string): { passed: number; failed: string[] } {
  const failed = [...output.matchAll(/^--- FAIL: (\w+)/gm)].map(([, name]) => name!)
  return { passed: output.match(/^--- PASS: /gm)?.length ?? 0, failed }
}

/** Tests the patched source with upstream's tests and rejected features enabled, and then as it is deployed. */
export const minio = scenario({
  name: 'minio',
  shows: 'the patched MinIO passes its own tests of the changed files, and the project’s tests',
  run: async ({ ends, holds, progress }) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'tintype-minio-tests-'))
    ends.teardown(() => rm(directory, { recursive: true, force: true }))
    const source = path.join(directory, 'source')
    await prepareMinioSource(source)
    await applyPatches(source, await readTestPatches())
    const texts = await Promise.all(TEST_FILES.map((file) => readFile(path.join(source, 'cmd', file), 'utf8')))
    progress('compiling tests takes some minutes')
    const program = path.join(directory, 'cmd.test')
    await run('nice', ['go', 'test', '-c', '-o', program, './cmd'], { directory: source, environment: buildEnvironment })
    const test = async (claim: string, pattern: string, environment: Record<string, string>) => {
      const args = ['-test.v', `-test.timeout=${MINUTES}m`, '-test.run', pattern]
      const output = await run(program, args, { directory: path.join(source, 'cmd'), environment }).catch(
        (error: Error & { output?: string }) => error.output ?? error.message,
      )
      const { passed, failed } = countResults(output)
      holds(claim, passed > 0 && failed.length === 0, `${passed} passed, ${failed.join(', ') || 'none'} failed`)
    }
    const names = texts.flatMap(testNames).join('|')
    await test("MinIO's own tests of the changed files pass", `^(${names})$`, { TINTYPE_UPSTREAM_TESTS: '1' })
    await test('the project’s tests of the patches pass', '^TestTintype', {})
  },
})
