// Everything a page does by itself. Without scripts every page still works; this makes it live, quick and safe offline.
import { startAnswering } from "./answering.js";
import { startBatch } from "./batch.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startNotices } from "./notices.js";
import { startRefreshing } from "./refresh.js";
import { startTime } from "./time.js";

startTime();
startRefreshing();
startAnswering();
startBatch();
startKeys();
startNotices();
startLive();
