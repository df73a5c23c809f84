import { CaptureList } from '../list/capture-list.tsx'
import { RecordPage } from '../record/record-page.tsx'
import type { Page } from '../routing/page.ts'

const Videos: Page = ({ session, parts: [id], query }) =>
  id === undefined ? <CaptureList collection="videos" query={query} /> : <RecordPage collection="videos" id={id} session={session} />

export default Videos
