import t from 'tap'
import { runPythonClient, runTypeScriptClient } from '../clients/generate.ts'
import { cluster } from '../support/cluster/environment.ts'

// Clients generated from the document that the deployed gateway serves.

const service = { url: cluster.url, key: cluster.apiKey }

t.test('a TypeScript client that is generated from the deployed document works', async (t) => {
  t.match(await runTypeScriptClient(service), 'the TypeScript client did all that it should')
})

t.test('a Python client that is generated from the deployed document works', async (t) => {
  t.match(await runPythonClient(service), 'the Python client did all that it should')
})
