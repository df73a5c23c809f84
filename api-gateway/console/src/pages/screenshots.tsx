import { CaptureList } from '../list/capture-list.tsx'
import { RecordPage } from '../record/record-page.tsx'
import type { Page } from '../routing/page.ts'

const Screenshots: Page = ({ session, parts: [id], query }) =>
  id === undefined ? (
    <CaptureList collection="screenshots" query={query} />
  ) : (
    <RecordPage collection="screenshots" id={id} session={session} />
  )

export default Screenshots
