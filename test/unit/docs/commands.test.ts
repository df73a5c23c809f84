import t from 'tap'
import { assertEvery } from '../../support/accepts.ts'
import { renderNotes } from '../../support/sources/chart.ts'
import {
  commandsOf,
  indentedCommandsOf,
  inlineCommandsOf,
  manualPages,
  readText,
  withoutComment,
} from '../../support/sources/code-blocks.ts'

// The commands of the manual are safe to run: curl fails on an error response instead of saving it, and kubectl names the namespace.

const pages = [
  ...manualPages.map((file) => ({
    file,
    commands: [...commandsOf(readText(file)), ...inlineCommandsOf(readText(file))].map(withoutComment),
  })),
  { file: 'NOTES.txt', commands: indentedCommandsOf(await renderNotes()) },
  {
    file: 'test/cluster/start.ts',
    commands: [
      ...readText('test/cluster/start.ts')
        .replaceAll(/\\\\\n\s*/g, '')
        .matchAll(/^ {2}((?:curl|kubectl) .*)$/gm),
    ].map(([, command = '']) => withoutComment(command)),
  },
]

/** Calls of a program in a command, without pipes and substitutions. */
const callsOf = (program: string, commands: readonly string[]): string[] =>
  commands.flatMap((command) =>
    [...command.matchAll(new RegExp(`(?<![\\w/'.-])${program} (?:"[^"]*"|'[^']*'|[^|;&)"'])*`, 'gs'))].map(([call]) => call),
  )

const failsOnError = (call: string): boolean =>
  / (--fail|--fail-with-body)\b/.test(call) || / -[a-zA-Z]*f/.test(call.split(' -d ')[0] ?? '')

t.test('the check of curl commands detects a curl that saves an error response', async (t) => {
  t.notOk(failsOnError('curl -sS http://x -o a.png'))
  t.ok(failsOnError('curl -fsS http://x -o a.png'))
  t.ok(failsOnError('curl -sS --fail-with-body http://x'))
  t.strictSame(commandsOf("```sh\ncurl a \\\n  -o b   # c\nkubectl -n x patch y -p '{\n}'\n```\n").map(withoutComment), [
    'curl a -o b',
    "kubectl -n x patch y -p '{\n}'",
  ])
})

for (const { file, commands } of pages) {
  t.test(`each curl of ${file} fails on an error response`, async (t) => {
    assertEvery(t, callsOf('curl', commands), failsOnError)
  })
}

/** Commands without a namespace: cluster-wide kinds, files that contain namespaces, commands without objects, and the plugin, which finds the namespace itself. */
const CLUSTER_WIDE =
  /^kubectl (explain|tintype|version|config|cluster-info|api-resources|create namespace|label namespace|get -A|(get|delete) (crd|nodes|namespaces?|validatingadmission|clusterrole)|apply --server-side --force-conflicts -f charts\/tintype\/crds|(apply|create|get|delete|describe|scale)$)/

for (const { file, commands } of pages) {
  t.test(`each kubectl of ${file} names the namespace`, async (t) => {
    const calls = callsOf('kubectl', commands).map((call) => call.trim())
    assertEvery(t, calls, (call) => CLUSTER_WIDE.test(call) || / (-n|--namespace)[ =]\S+/.test(call))
  })
}

t.test('the manual names no path that the API lacks', async (t) => {
  for (const file of manualPages) t.notOk(/\/api-keys\b/.test(readText(file)), file)
})
