import t from 'tap'
import { Controller, RetryableError, TerminalError } from '../../operator/src/controller-runtime/controller.ts'
import { toLogLine } from '../../operator/src/controllers/screenshot/finished.ts'
import { assertEvery } from '../support/accepts.ts'
import { eventually } from '../support/eventually.ts'
import { parseLogLines, recordLog } from '../support/sources/log-lines.ts'
import { readSources } from '../support/sources/source-files.ts'
import { aScreenshot } from './api-gateway/fakes.ts'

// Pino writes a key twice if a line contains a field that its logger already adds. Some collectors reject such a line.

t.test('the check of log lines finds duplicate keys, also in nested objects', async (t) => {
  t.throws(() => parseLogLines('{"level":30,"pod":"a","pod":"b","msg":"x"}\n'), /has a key twice/)
  t.throws(() => parseLogLines('{"level":30,"msg":"x","err":{"code":1,"code":2}}\n'), /has a key twice/)
  t.match(parseLogLines('{"level":30,"msg":"a \\"pod\\": b","pod":"a"}\nnot JSON\n'), [{ pod: 'a' }])
})

t.test('the line of a finished screenshot contains the runner’s pod and the operator’s', async (t) => {
  const { log, text } = recordLog({ pod: 'operator-1' })
  log.info(toLogLine(aScreenshot({ status: { runner: { pod: 'runner-1', uid: 'u', ip: '10.0.0.1' } } as never })), 'screenshot finished')
  t.match(parseLogLines(text()), [{ pod: 'operator-1', runnerPod: 'runner-1' }])
})

t.test('a failed controller writes its name once, even if other fields contain it', async (t) => {
  const { log, text } = recordLog({ pod: 'operator-1' })
  const errors = [new TerminalError('Why', 'final'), new RetryableError('later'), new Error('a bug')]
  for (const error of errors) {
    const controller = new Controller({ name: 'shots', log, reconcile: () => Promise.reject(error) })
    controller.start()
    controller.enqueue('a')
    await eventually('the failure is logged', async () => text().includes(error.message))
    await controller.stop(0)
  }
  t.ok(parseLogLines(text()).every(({ controller }) => controller === 'shots'))
})

/** Fields that the loggers of the programs add to each line, directly or through a child logger. */
const CARRIED = ['level', 'time', 'msg', 'pod', 'pid', 'hostname', 'component', 'requestId']

t.test('no log call writes a field that its logger already adds', async (t) => {
  const calls = readSources().flatMap(({ file, code }) =>
    [...code.matchAll(/\blog\??\.(?:debug|info|warn|error|fatal)\(\s*\{([^{}]*)\}/g)].map(([, fields = '']) => ({ file, fields })),
  )
  t.ok(calls.length > 40, `${calls.length} calls`)
  const namesOf = (fields: string) => fields.split(',').map((field) => field.split(':')[0]?.trim() ?? '')
  assertEvery(t, calls, ({ fields }) => !namesOf(fields).some((name) => CARRIED.includes(name)))
})

t.test('no controller gets a logger that already adds its name', async (t) => {
  assertEvery(t, readSources(), ({ code }) => !/\.child\(\{ controller/.test(code))
})
