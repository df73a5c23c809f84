import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { answerCorpus } from './corpus.ts'
import { html } from './html.ts'
import { pages } from './pages.ts'

// Serves the tests' pages under any name, and the corpus under names that begin with `docs.`. No dependency: the image is Node and files.

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://sites')
  if (request.headers.host?.startsWith('docs.')) return void answerCorpus(url.pathname, response)
  const [, name = '', argument = ''] = url.pathname.split('/')
  const page = pages[name]
  if (page) page({ request, response, url, argument })
  else html(response, `<h1>no page /${name.replaceAll(/[^a-z]/g, '')}</h1>`, 404)
}

createServer(answer).listen(8080)
const tls = { key: readFileSync('/tls/key.pem'), cert: readFileSync('/tls/certificate.pem') }
createTlsServer(tls, answer).listen(8443)
process.once('SIGTERM', () => process.exit(0))
