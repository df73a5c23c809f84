import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { repository } from '../../../cluster/host/state.ts'

import { buildGraph } from '../../../selection/graph.ts'
import { selectTests } from '../../../selection/select.ts'
import { readRepositoryFiles } from '../../../support/sources/repository-files.ts'
import { type SourceFile, toSource } from '../../../support/sources/source-files.ts'
import { TOOL_USERS } from '../../../support/sources/tool-users.ts'

const TOOLS = [
  'test/chart/tools.ts',
  'test/clients/runtimes.ts',
  'test/fuzz/python-tools.ts',
  'test/prose/vale.ts',
  'test/release/tools.ts',
]

/** Without the files that the code names. */
const importsOf = (sources: SourceFile[]): SourceFile[] => sources.map((source) => ({ ...source, code: '' }))

t.test('TOOL_USERS lists the integration tests that need a tool, and no others', async (t) => {
  const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8')
  const sources = globSync('test/{chart,clients,fuzz,integration,prose,release,support}/**/*.ts', { cwd: repository }).map((file) =>
    toSource(file, read(file)),
  )
  const tests = globSync('test/integration/**/*.test.ts', { cwd: repository })
  const graph = buildGraph(importsOf(sources), readRepositoryFiles())
  const none = { everything: [], nothing: [], edges: [], areas: [], basics: [] }
  const importing = selectTests(
    TOOLS.map((file) => ({ file })),
    graph,
    none,
    tests,
  ).tests
  const expected = tests.filter(
    (test) => importing.has(test) || (/startMinio|startStore|openTestStore|build of/.test(read(test)) && read(test).includes("'upstream'")),
  )
  const listed = tests.filter((test) => TOOL_USERS.some((pattern) => path.matchesGlob(test, pattern)))
  t.strictSame(listed.sort(), expected.sort())
})
