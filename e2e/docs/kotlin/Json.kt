// The part of kotlinx.serialization that the app uses, by reflection: classes marked @Serializable with their primary
// constructor, lists, strings, numbers and booleans. As the real one does by default, it refuses members that are unknown
// or missing, and omits those that have their default value; here a default can only be null.
package kotlinx.serialization.json

import kotlin.reflect.KClass
import kotlin.reflect.KProperty1
import kotlin.reflect.KType
import kotlin.reflect.full.findAnnotation
import kotlin.reflect.full.memberProperties
import kotlin.reflect.full.primaryConstructor
import kotlin.reflect.typeOf
import kotlinx.serialization.Serializable
import kotlinx.serialization.SerializationException

class JsonBuilder {
    var ignoreUnknownKeys = false
    var explicitNulls = true
}

fun Json(builderAction: JsonBuilder.() -> Unit) = JsonBuilder().apply(builderAction).let { Json(it.ignoreUnknownKeys, it.explicitNulls) }

class Json(private val ignoreUnknownKeys: Boolean, private val explicitNulls: Boolean) {
    inline fun <reified T> decodeFromString(string: String): T = read(string, typeOf<T>()) as T

    fun read(text: String, type: KType): Any? = decode(Reader(text).document(), type)

    fun write(value: Any?): String = when (value) {
        null, is Boolean, is Number -> value.toString()
        is String -> value.map { if (it < ' ' || it in "\"\\") "\\u%04x".format(it.code) else it }.joinToString("", "\"", "\"")
        is List<*> -> value.joinToString(",", "[", "]") { write(it) }
        else -> members(value).joinToString(",", "{", "}") { (name, member) -> write(name) + ":" + write(member) }
    }

    private fun members(of: Any): List<Pair<String, Any?>> {
        val properties = of::class.memberProperties.associateBy { it.name }
        return serializable(of::class).primaryConstructor!!.parameters.mapNotNull {
            @Suppress("UNCHECKED_CAST") val member = (properties.getValue(it.name!!) as KProperty1<Any, *>).get(of)
            if (member == null && (it.isOptional || !explicitNulls)) null else it.name!! to member
        }
    }

    private fun decode(found: Any?, type: KType): Any? {
        val kind = type.classifier as KClass<*>
        return when {
            found == null && type.isMarkedNullable -> null
            found is Number && kind == Int::class -> found.toInt()
            found is Number && kind == Long::class -> found.toLong()
            found is String && kind == String::class || found is Boolean && kind == Boolean::class -> found
            found is List<*> && kind == List::class -> found.map { decode(it, type.arguments.single().type!!) }
            found is Map<*, *> -> construct(found, serializable(kind))
            else -> throw SerializationException("$found is not a $type")
        }
    }

    private fun construct(from: Map<*, *>, kind: KClass<*>): Any {
        val constructor = kind.primaryConstructor!!
        val unknown = from.keys - constructor.parameters.map { it.name }.toSet()
        if (unknown.isNotEmpty() && !ignoreUnknownKeys) throw SerializationException("$kind has no $unknown")
        return constructor.callBy(constructor.parameters.filter { it.name in from || !it.isOptional }.associateWith {
            if (it.name !in from && (explicitNulls || !it.type.isMarkedNullable)) throw SerializationException("$kind lacks ${it.name}")
            decode(from[it.name], it.type)
        })
    }

    private fun serializable(kind: KClass<*>) = kind.takeIf { it.findAnnotation<Serializable>() != null }
        ?: throw SerializationException("Serializer for $kind is not found. Is it marked as @Serializable?")
}

/** Reads JSON as maps, lists, strings, numbers, booleans and null. */
private class Reader(private val text: String) {
    private var at = 0

    fun document(): Any? = value().also { if (next() != null) refuse() }

    private fun value(): Any? = when (next()) {
        '{' -> sequence('}') { name() to value() }.toMap()
        '[' -> sequence(']') { value() }
        '"' -> string()
        else -> when (val word = WORD.matchAt(text, at)?.value?.also { at += it.length }) {
            "true" -> true
            "false" -> false
            "null" -> null
            else -> word?.toBigDecimalOrNull() ?: refuse()
        }
    }

    private fun <T> sequence(end: Char, element: () -> T): List<T> = buildList {
        at++
        while (next() != end) {
            if (isNotEmpty()) take(',')
            add(element())
        }
        at++
    }

    private fun name(): String {
        next()
        return string().also { take(':') }
    }

    private fun string(): String {
        val found = STRING.matchAt(text, at) ?: refuse()
        at += found.value.length
        return ESCAPE.replace(found.groupValues[1]) {
            when (val escaped = it.value[1]) {
                'u' -> it.value.drop(2).toInt(16).toChar().toString()
                'n' -> "\n"
                't' -> "\t"
                'r' -> "\r"
                'b' -> "\b"
                'f' -> "\u000c"
                else -> escaped.toString()
            }
        }
    }

    private fun take(expected: Char) {
        if (next() != expected) refuse()
        at++
    }

    /** Skips white space, and returns the character behind it; null at the end. */
    private fun next(): Char? {
        while (at < text.length && text[at].isWhitespace()) at++
        return text.getOrNull(at)
    }

    private fun refuse(): Nothing = throw SerializationException("no JSON at $at: $text")

    private companion object {
        val WORD = Regex("[-+.\\w]+")
        val STRING = Regex("\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"")
        val ESCAPE = Regex("\\\\(?:u[0-9a-fA-F]{4}|.)")
    }
}
