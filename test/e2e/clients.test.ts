import t from 'tap'
import { runPythonClient, runTypeScriptClient } from '../clients/generate.ts'
import { cluster } from '../support/cluster/environment.ts'

// Clients generated from the OpenAPI document of the deployed gateway.

const service = { url: cluster.url, key: cluster.apiKey }

t.test('a TypeScript client generated from the deployed document works', async (t) => {
  t.match(await runTypeScriptClient(service), 'TypeScript client: all checks passed')
})

t.test('a Python client generated from the deployed document works', async (t) => {
  t.match(await runPythonClient(service), 'Python client: all checks passed')
})
