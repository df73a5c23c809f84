import t from 'tap'
import { runPythonClient, runTypeScriptClient } from '../../clients/generate.ts'
import { startStage } from '../fuzz/stage.ts'

// Clients generated from the OpenAPI document of a gateway, and used against it.

const stage = await startStage()
t.teardown(() => stage.stop())
const service = { url: stage.gateway.url, key: stage.key }

t.test('a TypeScript client generated from the document compiles and works', async (t) => {
  t.match(await runTypeScriptClient(service), 'TypeScript client: all checks passed')
})

t.test('a Python client generated from the document compiles and works', async (t) => {
  t.match(await runPythonClient(service), 'Python client: all checks passed')
})
